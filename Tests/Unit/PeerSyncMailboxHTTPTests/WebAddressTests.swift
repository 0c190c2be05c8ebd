import PeerSyncMailbox
import Testing

@testable import PeerSyncMailboxHTTP

/// Addresses of servers are taken when they are safe, and refused with the reason; no printing shows a password.
@Suite struct WebAddressTests {
    @Test(arguments: [
        ("https://cloud.example.org/dav/", "https://cloud.example.org/dav"),
        ("HTTPS://cloud.example.org:443", "https://cloud.example.org"),
        ("https://cloud.example.org:8443//a///b%20c/", "https://cloud.example.org:8443/a/b%20c"),
        ("http://localhost:8080/x", "http://localhost:8080/x"), ("http://127.0.0.9", "http://127.0.0.9"),
        ("http://[::1]:81/", "http://[::1]:81"),
    ]) func anAddressIsWrittenInOneWay(_ text: String, _ written: String) throws {
        #expect(try WebAddress(text).description == written)
    }

    @Test(arguments: [
        ("cloud.example.org", "no address"), ("ftp://cloud.example.org", "no address"), ("https://", "no address"),
        ("https://ada:hush@cloud.example.org", "holds a name or a password"),
        ("https://ada@cloud.example.org", "holds a name or a password"),
        ("https://cloud.example.org/?a=b", "no ? and no #"),
        ("http://cloud.example.org", "without TLS"), ("http://127.0.0.1.example.org", "without TLS"),
        ("http://localhost.example.org", "without TLS"),
    ]) func anAddressThatIsNotSafeIsRefused(_ text: String, _ reason: String) throws {
        let error = try #require(throws: MailboxError.self) { try WebAddress(text) }
        #expect(error.code == .invalid)
        #expect(error.message.contains(reason), "\(error.message)")
        #expect(!error.message.contains("hush"))
    }

    @Test func credentialsPrintNoSecret() {
        let credentials = WebCredentials(user: "ada", secret: "hush")
        var dumped = ""
        dump(credentials, to: &dumped)
        for text in ["\(credentials)", String(reflecting: credentials), dumped, "\([credentials])"] {
            #expect(!text.contains("hush"))
        }
    }

    @Test(arguments: [
        ("scores", "https://s3.eu-central-1.amazonaws.com", "eu-central-1", ""),
        ("scores/", "https://s3.fr-par.scw.cloud", "fr-par", ""),
        ("my.scores/of/us/", "https://minio.example.org:9000", "us-east-1", "of/us/"),
    ]) func aBucketHasARegionAndAFolder(_ text: String, _ endpoint: String, _ region: String, _ prefix: String) throws {
        let bucket = try S3Bucket(text, at: WebAddress(endpoint))
        #expect(bucket.region == region)
        #expect(bucket.prefix == prefix)
    }

    @Test(arguments: ["", "/", "a", "a b", "ü-scores", "scores/../other", "scores/a b", "scores?x"])
    func aBucketThatNoServerHasIsRefused(_ text: String) throws {
        #expect(throws: MailboxError.self) { try S3Bucket(text, at: WebAddress("https://example.org")) }
    }
}
