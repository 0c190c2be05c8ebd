import PeerSyncModel
import Testing

/// Whole exchanges, as the C++ reference implementation of Negentropy (github.com/hoytech/negentropy) holds them with
/// itself, given the same items.
struct NegentropyReferenceTests {
    /// An item whose id repeats one byte.
    static func item(_ timestamp: UInt64, _ byte: UInt8) -> NegentropyItem {
        NegentropyItem(timestamp: timestamp, id: NegentropyID(Array(repeating: byte, count: 32))!)
    }

    /// `02030303…`: several bytes, each of which stands for 32 of its kind.
    static func ids(_ bytes: UInt8...) -> String {
        bytes.map { Array(repeating: $0, count: 32).hexadecimal }.joined()
    }

    @Test func nothingOnEitherSide() throws {
        let exchange = try NegentropyExchange(NegentropySets(mine: [], theirs: []))
        #expect(exchange.messages.map { $0.hexadecimal } == ["6100000200", "6100000200"])
    }

    @Test func fewItemsAreListedAtOnce() throws {
        let sets = NegentropySets(
            mine: [(1000, 1), (1000, 2), (2000, 3), (3000, 5)].map(Self.item),
            theirs: [(1000, 1), (2000, 3), (2000, 4), (3000, 5)].map(Self.item))
        let exchange = try NegentropyExchange(sets)
        #expect(
            exchange.messages.map { $0.hexadecimal } == [
                "6100000204" + Self.ids(1, 2, 3, 5), "6100000204" + Self.ids(1, 3, 4, 5),
            ])
        #expect(exchange.have == [Self.item(0, 2).id] && exchange.need == [Self.item(0, 4).id])
    }

    /// 33 items against the first 32 of them, 12 a timestamp: the last part has the difference.
    @Test func moreThanThirtyOneItemsAreSplit() throws {
        let mine = (0..<33).map { Self.item(100 * (1 + $0 / 12), UInt8($0 + 1)) }
        let exchange = try NegentropyExchange(NegentropySets(mine: mine, theirs: Array(mine.dropLast())))
        #expect(
            exchange.messages.map { $0.hexadecimal } == [
                """
                6165010401c07a25db62a65dc5477decb10bf5f2930101060107aa15a5c153b036e64b5d1a0b68a741\
                01010801c3b220cd2682a0d35c0d55f0690eb14a01010a01de7cc218a459caaf756d498e46da3749\
                01010c01d1cf570526e4c1870196a8d9e539e22d65010e01f8dbdbec6eee46577c119184fa3622dd\
                01011001228ff9be580af0340ea2a3f9955863f701011201eb56fc10dc92e87eb8dd8693fa52503f\
                01011401aaaa6ba6f4c7fa312492e18f360799f901011601c989e48aaeb895ae19ea03e4c384b27d\
                01011801a2952b0bc61a90aea947bdd3d3b2511d65011a01ea0b199ccb75b2bf4ad341fb9fc51123\
                01011c01a1f81d851b2aeb0e73172e413a6ab57401011e01b3e3858268b6e16cf19cad87464bb795\
                010120011fcfbdb995ca766a5be2bbd528e9ee3d000001e6b58a8f002f65b65fd1d4bcb4c0fefa
                """,
                "61822d01200000000201" + Self.ids(32),
            ])
        #expect(exchange.have == [Self.item(0, 33).id] && exchange.need.isEmpty)
    }

    struct Case: CustomTestStringConvertible {
        var name: String
        var seed: UInt64
        var shared: Int
        var mine: Int
        var theirs: Int
        var timestamps: UInt64 = 1_000_000
        var commonPrefix = 0
        var limits = (initiator: 0, responder: 0)
        var messages: Int
        var byteCount: Int
        /// BLAKE2b-256 over all messages, one after the other.
        var hash: String

        var testDescription: String { name }
    }

    static let cases = [
        Case(
            name: "a few differences", seed: 2, shared: 100, mine: 3, theirs: 2, messages: 2, byteCount: 1412,
            hash: "cde8ba7f1a0c0bdf2f41d1504f9025cdcee783b7b743bbbf8fbb61788adc9aa2"),
        Case(
            name: "one timestamp", seed: 3, shared: 300, mine: 10, theirs: 20, timestamps: 1, messages: 2,
            byteCount: 9435, hash: "d12e5a685f3331e15123f338468212f7082a80854b1ab4adc5d7c68cc3842e66"),
        Case(
            name: "one timestamp, similar ids", seed: 4, shared: 300, mine: 10, theirs: 20, timestamps: 1,
            commonPrefix: 24, messages: 2, byteCount: 8879,
            hash: "4ec5986c39ef0102ba8e76ddee62cda32e2f6eb563863abad0f97bb2724439bc"),
        Case(
            name: "small frames both ways", seed: 5, shared: 2000, mine: 300, theirs: 300, timestamps: 500,
            commonPrefix: 1, limits: (4096, 4096), messages: 52, byteCount: 143_728,
            hash: "fcfd713b91b02620016bb1e09ecd55e84522b391e92ec3becd8f73946fea6550"),
        Case(
            name: "one in five thousand", seed: 6, shared: 5000, mine: 1, theirs: 0, messages: 4,
            byteCount: 1940,
            hash: "297d467c3b3bd5aa5b0054f930a8a053b01fa18db3e425576b8daa6e0be1a67f"),
        Case(
            name: "small frames one way", seed: 7, shared: 2000, mine: 0, theirs: 900, limits: (0, 5000),
            messages: 66, byteCount: 653_169,
            hash: "1dc346ab372cbd780ff1616ca0c53caa474bcb75d30dbdafc692869d7e605d4c"),
        Case(
            name: "small frames the other way", seed: 8, shared: 2000, mine: 900, theirs: 0,
            limits: (6000, 0),
            messages: 6, byteCount: 78399,
            hash: "41a0ca700281fa16421222815f32df86dd787f0c8f45a7abc0b2378b576488ed"),
        Case(
            name: "lists that are cut", seed: 9, shared: 40, mine: 0, theirs: 2000, limits: (0, 4096),
            messages: 40,
            byteCount: 93955, hash: "24982ed66b3fb59801beb21a0514f7113188512e7c2e4c92007ad53f5277ec90"),
    ]

    @Test(arguments: cases)
    func exchangesAreTheReferences(test: Case) throws {
        let sets = NegentropySets(
            seed: test.seed, shared: test.shared, mine: test.mine, theirs: test.theirs,
            timestamps: test.timestamps, commonPrefix: test.commonPrefix)
        let exchange = try NegentropyExchange(
            sets, initiatorLimit: test.limits.initiator, responderLimit: test.limits.responder)
        let all = Array(exchange.messages.joined())
        #expect(exchange.messages.count == test.messages)
        #expect(all.count == test.byteCount)
        #expect(BLAKE2b.hash(all, length: 32).hexadecimal == test.hash)
    }
}
