// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "Todo",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "scorebook-peer", path: "../.."),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        // The app as it was before anybody thought of sync.
        .executableTarget(
            name: "todo-before",
            dependencies: [
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Sources/TodoBefore"
        ),
        // The same app with sync.
        .executableTarget(
            name: "todo",
            dependencies: [
                .product(name: "PeerSync", package: "scorebook-peer"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Sources/Todo"
        ),
        // Its next version, with one more column.
        .executableTarget(
            name: "todo-next",
            dependencies: [
                .product(name: "PeerSync", package: "scorebook-peer"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Sources/TodoNext"
        ),
        .testTarget(
            name: "TodoTests",
            dependencies: [
                "todo-before", "todo", "todo-next", .product(name: "GRDB", package: "GRDB.swift"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
