import Foundation
import Testing

@testable import PeerSyncMailboxHTTP

/// The signatures that AWS has published, byte for byte.
@Suite struct S3SignatureTests {
    /// "Signature Calculations for the Authorization Header: Transferring Payload in a Single Chunk" in the Amazon S3 API Reference.
    private static let documentation: [(S3Signature.Request, String)] = [
        (
            request("GET", "/test.txt", [("range", "bytes=0-9")]),
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        ),
        (
            request(
                "PUT", "/test%24file.text",
                [("date", "Fri, 24 May 2013 00:00:00 GMT"), ("x-amz-storage-class", "REDUCED_REDUNDANCY")],
                body: "Welcome to Amazon S3."),
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
        ),
        (
            request("GET", "/", query: [("lifecycle", "")]),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
        ),
        (
            request("GET", "/", query: [("prefix", "J"), ("max-keys", "2")]),
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
        ),
    ]

    private static func request(
        _ method: String, _ path: String, _ headers: [(name: String, value: String)] = [],
        query: [(name: String, value: String)] = [], body: String = ""
    ) -> S3Signature.Request {
        let hash = S3Signature.hash(Array(body.utf8))
        return S3Signature.Request(
            method: method, path: path, query: query,
            headers: [
                ("host", "examplebucket.s3.amazonaws.com"), ("x-amz-content-sha256", hash),
                ("x-amz-date", "20130524T000000Z"),
            ] + headers, bodyHash: hash)
    }

    @Test(arguments: documentation) func isThatOfTheDocumentation(_ request: S3Signature.Request, _ signature: String) {
        let signer = S3Signature(
            credentials: WebCredentials(
                user: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
            region: "us-east-1")
        #expect(
            signer.authorization(request, at: "20130524T000000Z")
                == "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
                + "SignedHeaders=\(request.headers.map(\.name).sorted().joined(separator: ";")), Signature=\(signature)")
    }

    /// Of the Signature Version 4 test suite that AWS has published, `aws-sig-v4-test-suite`: method, path, query, headers beside
    /// `host` and `x-amz-date`, signature.
    private static let suite: [(String, S3Signature.Request, String)] = [
        (
            "get-vanilla", plain("GET"), "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
        ),
        (
            "post-vanilla", plain("POST"), "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"
        ),
        (
            "get-vanilla-query-order-key-case",
            plain("GET", query: [("Param2", "value2"), ("Param1", "value1")]),
            "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"
        ),
        (
            "get-header-value-trim",
            plain("GET", [("my-header1", " value1"), ("my-header2", " \"a   b   c\"")]),
            "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"
        ),
    ]

    private static func plain(
        _ method: String, _ headers: [(name: String, value: String)] = [],
        query: [(name: String, value: String)] = []
    ) -> S3Signature.Request {
        S3Signature.Request(
            method: method, path: "/", query: query,
            headers: [("host", "example.amazonaws.com"), ("x-amz-date", "20150830T123600Z")] + headers,
            bodyHash: S3Signature.hash([]))
    }

    @Test(arguments: suite) func isThatOfTheTestSuite(_ name: String, _ request: S3Signature.Request, _ signature: String) {
        var signer = S3Signature(
            credentials: WebCredentials(
                user: "AKIDEXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
            region: "us-east-1")
        signer.service = "service"
        #expect(
            signer.authorization(request, at: "20150830T123600Z").hasSuffix("Signature=\(signature)"), "\(name)")
    }

    @Test func timesAreWrittenWithoutSeparators() {
        #expect(S3Signature.time(Date(timeIntervalSince1970: 1_369_353_600)) == "20130524T000000Z")
    }
}
