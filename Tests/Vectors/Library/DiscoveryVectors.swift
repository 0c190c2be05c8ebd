import PeerSync
import PeerSyncChannel
import PeerSyncModel
import PeerSyncProtocol

extension VectorFile {
    /// Announcements of a machine, and links that lead to it.
    static func discovery() throws -> VectorFile {
        let key = VectorKeys.listener.publicKey
        let code = try PairingCode("066-228")
        let places = [
            [], ["192.168.1.20:7431"], ["192.168.1.20:7431", "[2001:db8::1]:9", "k\u{FC}che:7431"],
        ]
        return VectorFile(
            "discovery.json",
            "What a machine announces, and the text of a QR code that leads to it.",
            of: "discovery.md", section: "2, 3, 6",
            [
                ("key", .hex(key.bytes)),
                ("app", .string("\(VectorKeys.app)")),
                ("serviceName", .string(DiscoveryOptions.serviceName(of: VectorKeys.app))),
                (
                    "announcements",
                    .array(
                        [false, true].map { showsCode in
                            let salt = [UInt8](repeating: showsCode ? 0xA1 : 0x05, count: Announcement.length)
                            let announcement = Announcement(of: key, salt: salt, showsCode: showsCode)
                            return [
                                "salt": .hex(salt), "pair": .bool(showsCode), "text": .hex(announcement.text),
                            ]
                        })
                ),
                (
                    "links",
                    .array(
                        places.map { places in
                            let link = PairingLink(
                                app: VectorKeys.app, key: key, code: code,
                                at: places.compactMap { PeerAddress($0) })
                            return [
                                "code": .string(code.formatted), "addresses": .array(places.map(JSON.string)),
                                "text": .string(link.description),
                            ]
                        })
                ),
            ])
    }
}
