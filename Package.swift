// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "scorebook-peer",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "PeerSync", targets: ["PeerSync"]),
        .library(name: "PeerSyncMailbox", targets: ["PeerSyncMailbox"]),
        // With the trait WebStorage.
        .library(name: "PeerSyncMailboxHTTP", targets: ["PeerSyncMailboxHTTP"]),
        .library(name: "Scorebook", targets: ["Scorebook"]),
        .executable(name: "scorebook-peer", targets: ["scorebook-peer"]),
    ],
    traits: [
        .trait(
            name: "LAN",
            description:
                "Lets other devices see the page, over TLS; builds BoringSSL, which takes many minutes."),
        .trait(
            name: "WebStorage",
            description:
                "Mailboxes over WebDAV and the S3 API, beside folders; builds BoringSSL, which takes many minutes."
        ),
    ],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        // For the page alone: who uses the engine or the scorebook builds none of the two.
        .package(
            url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1",
            traits: ["FullFoundation"]),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
        // Hummingbird stands on both. TLS is for the trait LAN alone.
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.1"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.2"),
        // For the trait WebStorage alone. Hummingbird stands on the first, but builds it for its tests only.
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/CoreOffice/XMLCoder", from: "0.18.2"),
        // The names of headers, as Hummingbird has them.
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        // Only its command is used: no target of ours depends on it.
        .package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CSodium",
            pkgConfig: "libsodium",
            providers: [.apt(["libsodium-dev"]), .brew(["libsodium"])]
        ),
        // Bonjour on macOS, and Avahi's compatibility library on Linux.
        .systemLibrary(
            name: "CDNSServiceDiscovery", providers: [.apt(["libavahi-compat-libdnssd-dev"])]),
        .systemLibrary(
            name: "CQREncode",
            pkgConfig: "libqrencode",
            providers: [.apt(["libqrencode-dev"]), .brew(["qrencode"])]
        ),
        // The settings of glibc's allocator, for the program: a library leaves them to whoever uses it.
        .systemLibrary(name: "CAllocator"),
        .target(
            name: "CSQLiteConfiguration", dependencies: [.product(name: "GRDBSQLite", package: "GRDB.swift")]),
        .target(name: "PeerSyncModel", dependencies: ["CSodium"]),
        .target(name: "PeerSyncChannel", dependencies: ["CSodium"]),
        .target(
            name: "PeerSyncProtocol",
            dependencies: [
                "PeerSyncModel", "PeerSyncChannel", .product(name: "NIOCore", package: "swift-nio"),
            ]
        ),
        .target(name: "PeerSyncRules", dependencies: ["PeerSyncModel"]),
        .target(
            name: "PeerSyncStore",
            dependencies: [
                "PeerSyncModel", "PeerSyncRules", "CSQLiteConfiguration",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]
        ),
        .target(
            name: "PeerSync",
            dependencies: [
                "PeerSyncModel", "PeerSyncChannel", "PeerSyncProtocol", "PeerSyncStore",
                "CDNSServiceDiscovery",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            linkerSettings: [
                .linkedLibrary("dns_sd", .when(platforms: [.linux])),
                .linkedLibrary("avahi-common", .when(platforms: [.linux])),
            ]
        ),
        // The engine does not need it: an app that wants mailboxes adds it.
        .target(
            name: "PeerSyncMailbox",
            dependencies: [
                "CSodium", "PeerSyncModel", "PeerSyncChannel", "PeerSyncProtocol", "PeerSyncStore",
                "PeerSync",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]
        ),
        .target(
            name: "Scorebook",
            dependencies: [
                // For the names that follow from an imported file.
                "CSodium",
                "PeerSync", .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            // It is an app like any other: the compiler lets it use what is public.
            packageAccess: false
        ),
        .target(
            name: "ScorebookWeb",
            dependencies: [
                "CSodium", "CQREncode", "Scorebook", "PeerSync",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdTLS", package: "hummingbird", condition: .when(traits: ["LAN"])),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["LAN"])),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Mustache", package: "swift-mustache"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            resources: [.embedInCode("Resources")],
            packageAccess: false
        ),
        // Without the trait WebStorage, only what needs no client of HTTP.
        .target(
            name: "PeerSyncMailboxHTTP",
            dependencies: [
                "CSodium", "PeerSyncMailbox",
                .product(
                    name: "AsyncHTTPClient", package: "async-http-client",
                    condition: .when(traits: ["WebStorage"])),
                .product(name: "XMLCoder", package: "XMLCoder", condition: .when(traits: ["WebStorage"])),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["WebStorage"])),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["WebStorage"])),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),
        // The commit that the program names. Whoever builds says it: SCOREBOOK_COMMIT=$(git rev-parse --short HEAD) swift build
        .target(
            name: "CBuildCommit",
            cSettings: Context.environment["SCOREBOOK_COMMIT"].map {
                [.define("BUILD_COMMIT", to: "\"\($0)\"")]
            }
        ),
        .executableTarget(
            name: "scorebook-peer",
            dependencies: [
                "CAllocator", "CBuildCommit", "Scorebook", "ScorebookWeb", "PeerSync", "PeerSyncMailbox",
                "PeerSyncMailboxHTTP",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            // As for Scorebook.
            packageAccess: false
        ),
        // What the tests share: a clock, a directory, a way to wait, a check that throws, and random numbers that are the same
        // in every run.
        .target(name: "TestSupport", dependencies: ["PeerSyncModel"], path: "Tests/Support/Shared"),
        // Files in memory, and how a session exchanges them.
        .target(
            name: "AssetModel",
            dependencies: [
                "PeerSyncModel", "PeerSyncProtocol", "TestSupport",
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            path: "Tests/Support/AssetModel"
        ),
        // The simulator is a library, so that the tests run a bounded number of seeds and the command any number.
        .target(
            name: "SyncSimulator",
            dependencies: [
                "PeerSyncModel", "PeerSyncChannel", "PeerSyncProtocol", "PeerSyncStore", "AssetModel",
                "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            path: "Tests/Simulator/Library"
        ),
        // Machines that share a mailbox.
        .target(
            name: "MailboxSimulator",
            dependencies: [
                "PeerSync", "PeerSyncMailbox", "PeerSyncModel", "PeerSyncStore", "MailboxSupport",
                "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: "Tests/Simulator/Mailboxes"
        ),
        // A file system for SQLite that fails where a test wants it.
        .target(
            name: "CFaultyDisk", dependencies: [.product(name: "GRDBSQLite", package: "GRDB.swift")],
            path: "Tests/Support/FaultyDisk"),
        // Machines whose disks fail.
        .target(
            name: "DiskSimulator",
            dependencies: [
                "CFaultyDisk", "PeerSync", "PeerSyncModel", "PeerSyncStore", "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: "Tests/Simulator/Disks"
        ),
        .executableTarget(
            name: "simulate",
            dependencies: [
                "CSQLiteConfiguration", "SyncSimulator", "MailboxSimulator", "DiskSimulator",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Tests/Simulator/Command"
        ),
        // What the fuzzer runs is a library, so that the tests run it too, over the vectors and what was found.
        .target(
            name: "FuzzTargets",
            dependencies: [
                "PeerSyncModel", "PeerSyncChannel", "PeerSyncProtocol", "PeerSyncStore", "AssetModel",
                "TestSupport",
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            path: "Tests/Fuzz/Library",
            // Read by their path, not bundled.
            exclude: ["Found"]
        ),
        // Speaks with the test harnesses of other implementations of Negentropy.
        .executableTarget(
            name: "negentropy-harness", dependencies: ["PeerSyncModel"],
            path: "Tests/Vectors/NegentropyHarness"),
        .testTarget(
            name: "MergeRulesTests", dependencies: ["PeerSyncRules", "PeerSyncModel"],
            path: "Tests/Unit/MergeRulesTests"),
        .testTarget(
            name: "FuzzTargetsTests", dependencies: ["FuzzTargets", "TestSupport", "PeerSyncModel"],
            path: "Tests/Fuzz/Tests"),
        // What stands in Protocol/vectors: a library, so that the tests hold the files against it and the command writes
        // them.
        .target(
            name: "ProtocolVectors",
            dependencies: [
                "PeerSyncModel", "PeerSyncChannel", "PeerSyncProtocol", "PeerSyncRules", "PeerSyncStore",
                "PeerSync", "PeerSyncMailbox",
                "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            path: "Tests/Vectors/Library"
        ),
        .executableTarget(
            name: "make-vectors", dependencies: ["ProtocolVectors"], path: "Tests/Vectors/Command"),
        .testTarget(
            name: "ProtocolVectorTests",
            dependencies: [
                "ProtocolVectors", "ScriptedPeer", "PeerSyncChannel", "PeerSyncModel", "PeerSyncProtocol",
                "PeerSyncStore", "PeerSync", "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "NIOCore", package: "swift-nio"),
            ], path: "Tests/Vectors/Tests"),
        // A peer that says what the tests want.
        .target(
            name: "ScriptedPeer",
            dependencies: [
                "PeerSyncChannel", "PeerSyncProtocol", "PeerSync",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Tests/Support/ScriptedPeer"
        ),
        .testTarget(
            name: "SimulatorTests", dependencies: ["SyncSimulator", "DiskSimulator"],
            path: "Tests/Simulator/Tests"),
        .testTarget(
            name: "SyncModelTests", dependencies: ["PeerSyncModel", "TestSupport"],
            path: "Tests/Unit/SyncModelTests"),
        .testTarget(
            name: "SecureChannelTests", dependencies: ["PeerSyncChannel", "TestSupport"],
            path: "Tests/Unit/SecureChannelTests"),
        .testTarget(
            name: "SyncProtocolTests",
            dependencies: [
                "PeerSyncProtocol", "PeerSyncChannel", "PeerSyncModel", "TestSupport",
                .product(name: "NIOCore", package: "swift-nio"),
            ], path: "Tests/Unit/SyncProtocolTests"),
        .testTarget(
            name: "RecordStoreTests",
            dependencies: [
                "PeerSyncStore", "PeerSyncModel", "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            path: "Tests/Unit/RecordStoreTests"),
        .testTarget(
            name: "PeerSyncTests",
            dependencies: [
                "PeerSync", "PeerSyncMailbox", "PeerSyncStore", "Scorebook", "ScriptedPeer",
                "PeerSyncChannel", "PeerSyncModel", "PeerSyncProtocol",
                "TestSupport",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ], path: "Tests/Unit/PeerSyncTests"),
        // A storage in memory, with what goes wrong with storage.
        .target(
            name: "MailboxSupport",
            dependencies: ["PeerSyncMailbox", "PeerSyncModel", "PeerSyncStore", "TestSupport"],
            path: "Tests/Support/Mailboxes"),
        // Counts what mailboxes cost; scripts/benchmarks runs it. It takes the storage that tests have.
        .executableTarget(
            name: "mailbox-figures",
            dependencies: [
                "MailboxSupport", "PeerSyncMailbox", "PeerSync", "PeerSyncStore", "PeerSyncModel",
                "Scorebook",
                "TestSupport", .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ], path: "Benchmarks/Mailbox", exclude: ["mailbox.py"]),
        .testTarget(
            name: "PeerSyncMailboxHTTPTests",
            dependencies: [
                "PeerSyncMailboxHTTP", "PeerSyncMailbox", "TestSupport",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ], path: "Tests/Unit/PeerSyncMailboxHTTPTests",
            exclude: ["requirements.txt"]),
        .testTarget(
            name: "PeerSyncMailboxTests",
            dependencies: [
                "PeerSyncMailbox", "MailboxSimulator", "DiskSimulator", "MailboxSupport", "PeerSync",
                "PeerSyncStore", "PeerSyncModel", "PeerSyncProtocol", "PeerSyncChannel", "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "NIOCore", package: "swift-nio"),
            ], path: "Tests/Unit/PeerSyncMailboxTests"),
        .testTarget(
            name: "ScorebookTests",
            dependencies: [
                "PeerSyncStore", "Scorebook", "PeerSyncModel", "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: "Tests/Unit/ScorebookTests",
            // Read by their path beside the tests, not bundled.
            exclude: ["Data"]
        ),
        .testTarget(
            name: "ScorebookWebTests",
            dependencies: [
                "ScorebookWeb", "Scorebook", "PeerSync", "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Tests/Unit/ScorebookWebTests"),
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                "scorebook-peer", "PeerSync", "PeerSyncChannel", "PeerSyncModel", "PeerSyncProtocol",
                "TestSupport", .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: "Tests/Commands"),
    ],
    swiftLanguageModes: [.v6]
)

// Linked with libFuzzer, which only `swift build --sanitize=fuzzer` brings along: scripts/fuzz builds it.
if Context.environment["SCOREBOOK_FUZZING"] != nil {
    package.targets += [
        .target(name: "FuzzAllocations", path: "Tests/Fuzz/Allocations"),
        .executableTarget(
            name: "fuzz", dependencies: ["FuzzTargets", "FuzzAllocations", "TestSupport"],
            path: "Tests/Fuzz/Command"),
    ]
}

// What builds and runs whole programs takes long. scripts/mutate does without it where no mutation asks for it.
if Context.environment["SCOREBOOK_MUTATING"] != nil {
    package.targets.removeAll { $0.name == "IntegrationTests" }
}

// The tests of one target, what they need, and nothing else: so scripts/test --mailbox builds quickly in a folder of its own.
if let tested = Context.environment["SCOREBOOK_TESTS"] {
    var kept: Set = [tested]
    var looked = [tested]
    while let target = package.targets.first(where: { $0.name == looked.last }) {
        looked.removeLast()
        for case .byNameItem(let name, _) in target.dependencies where kept.insert(name).inserted {
            looked.append(name)
        }
    }
    package.products = []
    package.targets.removeAll { !kept.contains($0.name) }
}
