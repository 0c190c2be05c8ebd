import PeerSyncModel
import PeerSyncProtocol

/// The tables of protocol.md 7.12: what becomes of two default zones. The results stand here row by row as in that
/// text. The tests check the code against them.
extension VectorFile {
    static let unions = VectorFile(
        "unions.json",
        "What the two hellos lead to. Each case has two sides: the zones that the hello of each `offers`, and those that "
            + "it `alsoHas` and does not offer. `choices`: the union that the caller chooses if its user has asked for "
            + "`wanted`, or for nothing. `answers`: the zone that the default zones become, if they become one, when the "
            + "caller's open has `union`; `allows` is what the listener's user says when they are asked, null if nobody is "
            + "there. `confirmations`: whether the caller takes the listener's `open` as the answer to its own. `error` is the "
            + "code with which that side ends the session instead, or null.",
        section: "7.12",
        [
            ("choices", .array(choices.map(\.json))), ("answers", .array(answers.map(\.json))),
            ("confirmations", .array(confirmations.map(\.json))),
        ])

    /// What a side does, or the error with which it ends the session.
    fileprivate enum Outcome<Value: Sendable>: Sendable {
        case success(Value)
        case failure(ProtocolError.Code)

        var value: Value? { if case .success(let value) = self { value } else { nil } }

        var error: ProtocolError.Code? { if case .failure(let code) = self { code } else { nil } }
    }

    // MARK: Sides

    private static let c = Samples.zone("ScorebookData", Samples.kitchen)
    private static let l = Samples.zone("ScorebookData", Samples.attic)
    private static let garden = Samples.zone("Garden", Samples.attic)

    private struct Side {
        var offers: [ZoneOffer]
        var alsoHas: [ZoneID] = []

        func has(_ id: ZoneID) -> Side { Side(offers: offers, alsoHas: alsoHas + [id]) }

        func offersToo(_ id: ZoneID) -> Side {
            let offer = ZoneOffer(
                id: id, name: "Garden", isDefault: false, isShared: true, rights: .write, recordCount: 3,
                fingerprint: [UInt8](repeating: 0x99, count: ZoneOffer.fingerprintLength))
            return Side(offers: offers + [offer], alsoHas: alsoHas)
        }

        var json: JSON {
            [
                "offers": .array(offers.map(JSON.offer)),
                "alsoHas": .array(alsoHas.map { .object(JSON.zone($0)) }),
            ]
        }
    }

    /// A side that offers its default zone.
    ///
    /// - Parameters:
    ///   - rights: the rights of the other side in the zone.
    ///   - content: the first byte of the fingerprint.
    private static func side(
        _ id: ZoneID, _ count: UInt64 = 2, isShared: Bool = false, rights: ZoneRights = .write,
        content: UInt8
    ) -> Side {
        Side(offers: [
            ZoneOffer(
                id: id, name: "ScorebookData", isDefault: true, isShared: isShared, rights: rights,
                recordCount: count,
                fingerprint: [content] + [UInt8](repeating: 0, count: ZoneOffer.fingerprintLength - 1))
        ])
    }

    private static func caller(
        _ count: UInt64 = 2, isShared: Bool = false, rights: ZoneRights = .write, content: UInt8 = 0xCA
    ) -> Side { side(c, count, isShared: isShared, rights: rights, content: content) }

    private static func listener(
        _ count: UInt64 = 2, isShared: Bool = false, rights: ZoneRights = .write, content: UInt8 = 0xA7
    ) -> Side { side(l, count, isShared: isShared, rights: rights, content: content) }

    /// A caller whose default zone is the listener's.
    private static let sameCaller = side(l, 5, isShared: true, content: 0xCA)
    private static let sharedCaller = caller(isShared: true)
    private static let sharedListener = listener(isShared: true)
    /// Hellos that offer another zone, or none.
    private static let closedCaller = Side(offers: []).offersToo(garden).has(c)
    private static let closedListener = Side(offers: []).offersToo(garden).has(l)

    // MARK: Choices

    /// Two sides that meet, and the results.
    private struct Meeting {
        let why: String
        let caller: Side
        let listener: Side
        let results: [JSON]

        var json: JSON {
            [
                "why": .string(why), "caller": caller.json, "listener": listener.json,
                "results": .array(results),
            ]
        }
    }

    private static func choices(
        _ why: String, _ caller: Side, _ listener: Side, _ results: [(ZoneUnion?, Outcome<ZoneUnion>)]
    ) -> Meeting {
        Meeting(
            why: why, caller: caller, listener: listener,
            results: results.map { wanted, result in
                [
                    "wanted": .optional(wanted, JSON.union), "chooses": .optional(result.value, JSON.union),
                    "error": .optional(result.error, JSON.code),
                ]
            })
    }

    private static let asIsOrNot: [(ZoneUnion?, Outcome<ZoneUnion>)] = [
        (nil, .success(.none)), (.merge, .success(.none)), (.beside, .success(.none)),
        (.replaceCaller, .failure(.notPermitted)), (.replaceListener, .failure(.notPermitted)),
    ]

    private static let choices = [
        choices("The caller does not offer its default zone.", closedCaller, listener(), asIsOrNot),
        choices("The listener does not offer its default zone.", caller(), closedListener, asIsOrNot),
        choices(
            "The default zones are one already.", sameCaller, sharedListener,
            [
                (nil, .success(.none)), (.merge, .success(.none)), (.beside, .success(.none)),
                (.replaceCaller, .success(.replaceCaller)), (.replaceListener, .success(.replaceListener)),
            ]),
        choices(
            "The caller's hello offers both. So the zone to be of union 3 is beside its default zone.",
            caller().offersToo(l), sharedListener,
            [
                (nil, .success(.none)), (.merge, .success(.none)), (.beside, .success(.none)),
                (.replaceCaller, .failure(.notPermitted)), (.replaceListener, .success(.replaceListener)),
            ]),
        choices(
            "The listener's hello offers both.", sharedCaller, listener().offersToo(c),
            [
                (nil, .success(.none)), (.merge, .success(.none)), (.beside, .success(.none)),
                (.replaceCaller, .success(.replaceCaller)), (.replaceListener, .success(.replaceListener)),
            ]),
        choices(
            "Both hold the same, though both are shared.", caller(isShared: true, content: 7),
            listener(isShared: true, content: 7), [(nil, .success(.merge))]),
        choices(
            "Both hold the same, and the listener may only read.", caller(rights: .read, content: 7),
            listener(content: 7), [(nil, .success(.none))]),
        choices(
            "The caller's zone is new.", caller(0), sharedListener,
            [(nil, .success(.merge)), (.beside, .success(.beside))]),
        choices("The listener's zone is new.", sharedCaller, listener(0), [(nil, .success(.merge))]),
        choices(
            "The listener's zone is new, and the caller may only read there.", sharedCaller,
            listener(0, rights: .read), [(nil, .success(.none)), (.merge, .failure(.notPermitted))]),
        choices(
            "The caller's zone is empty and shared, so it is not new.", caller(0, isShared: true), listener(),
            [(nil, .failure(.differentZones))]),
        choices(
            "Neither is shared.", caller(), listener(),
            [
                (nil, .success(.merge)), (.merge, .success(.merge)), (.beside, .success(.beside)),
                (.replaceCaller, .success(.replaceCaller)), (.replaceListener, .success(.replaceListener)),
            ]),
        choices(
            "The caller's is shared.", sharedCaller, listener(),
            [
                (nil, .failure(.differentZones)), (.merge, .success(.merge)),
                (.beside, .success(.beside)), (.replaceCaller, .success(.replaceCaller)),
                (.replaceListener, .success(.replaceListener)),
            ]),
        choices(
            "The listener's is shared.", caller(), sharedListener,
            [(nil, .failure(.differentZones)), (.merge, .success(.merge))]),
        choices(
            "Both are shared, and have as many records.", sharedCaller, sharedListener,
            [
                (nil, .failure(.differentZones)), (.merge, .success(.merge)),
                (.replaceCaller, .success(.replaceCaller)), (.replaceListener, .success(.replaceListener)),
            ]),
        choices(
            "The listener may only read at the caller.", caller(rights: .read), listener(),
            [
                (nil, .failure(.notPermitted)), (.merge, .failure(.notPermitted)),
                (.beside, .success(.beside)), (.replaceCaller, .failure(.notPermitted)),
                (.replaceListener, .success(.replaceListener)),
            ]),
        choices(
            "The caller may only read at the listener.", caller(), listener(rights: .read),
            [
                (nil, .failure(.notPermitted)), (.merge, .failure(.notPermitted)),
                (.beside, .success(.beside)), (.replaceCaller, .success(.replaceCaller)),
                (.replaceListener, .failure(.notPermitted)),
            ]),
        choices(
            "The caller has the listener's zone, which is the one that is shared, beside its own.",
            caller().has(l), sharedListener,
            [
                (.merge, .failure(.notPermitted)), (.replaceCaller, .failure(.notPermitted)),
                (.replaceListener, .success(.replaceListener)),
            ]),
        choices(
            "The caller has the listener's zone beside its own. Neither is shared, so the zone to be of union 1 is the "
                + "caller's, which has the smaller id.",
            caller().has(l), listener(), [(nil, .success(.merge)), (.merge, .success(.merge))]),
        choices(
            "The caller's zone is new, and it has the listener's beside it.", caller(0).has(l),
            sharedListener,
            [(nil, .failure(.notPermitted))]),
    ]

    // MARK: Answers

    private static func answers(
        _ why: String, _ caller: Side, _ listener: Side, _ results: [(ZoneUnion, Bool?, Outcome<ZoneID?>)]
    ) -> Meeting {
        Meeting(
            why: why, caller: caller, listener: listener,
            results: results.map { union, allows, result in
                [
                    "union": .union(union), "allows": .optional(allows, JSON.bool),
                    "zoneToBe": .optional(result.value ?? nil) { .object(JSON.zone($0)) },
                    "error": .optional(result.error, JSON.code),
                ]
            })
    }

    private static let notMet: [(ZoneUnion, Bool?, Outcome<ZoneID?>)] = [
        (.none, nil, .success(nil)), (.merge, true, .failure(.unexpectedMessage)),
        (.beside, true, .failure(.unexpectedMessage)), (.replaceCaller, true, .failure(.unexpectedMessage)),
        (.replaceListener, true, .failure(.unexpectedMessage)),
    ]

    private static let answers = [
        answers("The caller does not offer its default zone.", closedCaller, listener(), notMet),
        answers("The listener does not offer its default zone.", caller(), closedListener, notMet),
        answers(
            "The default zones are one already.", sameCaller, sharedListener,
            [
                (.none, nil, .success(nil)), (.merge, true, .failure(.unexpectedMessage)),
                (.beside, true, .failure(.unexpectedMessage)), (.replaceCaller, nil, .success(l)),
                (.replaceListener, true, .success(l)), (.replaceListener, nil, .failure(.declined)),
                (.replaceListener, false, .failure(.declined)),
            ]),
        answers(
            "The caller's hello offers both.", caller().offersToo(l), sharedListener,
            [
                (.merge, true, .failure(.unexpectedMessage)), (.beside, true, .failure(.unexpectedMessage)),
                (.replaceListener, true, .success(c)),
            ]),
        answers(
            "The listener's hello offers both. So the zone to be of union 4 is beside its default zone.",
            sharedCaller, listener().offersToo(c),
            [
                (.merge, true, .failure(.unexpectedMessage)), (.beside, true, .failure(.unexpectedMessage)),
                (.replaceCaller, nil, .success(l)), (.replaceListener, true, .failure(.notPermitted)),
            ]),
        answers(
            "Neither is shared: the smaller id counts.", caller(), listener(),
            [
                (.none, nil, .success(nil)), (.merge, nil, .success(c)), (.beside, nil, .success(nil)),
                (.replaceCaller, nil, .success(l)), (.replaceListener, true, .success(c)),
                (.replaceListener, nil, .failure(.declined)), (.replaceListener, false, .failure(.declined)),
            ]),
        answers(
            "Neither is shared, and the listener's id is the smaller one.", side(l, content: 0xCA),
            side(c, content: 0xA7),
            [
                (.merge, nil, .success(c)), (.replaceCaller, nil, .success(c)),
                (.replaceListener, true, .success(l)),
            ]),
        answers(
            "The caller's is shared.", sharedCaller, listener(),
            [
                (.merge, true, .success(c)), (.merge, false, .failure(.declined)),
                (.merge, nil, .failure(.differentZones)),
            ]),
        answers(
            "The listener's is shared.", caller(), sharedListener,
            [
                (.merge, true, .success(l)), (.merge, false, .failure(.declined)),
                (.merge, nil, .failure(.differentZones)),
            ]),
        answers(
            "The listener's is shared, and the caller's is new.", caller(0), sharedListener,
            [(.merge, nil, .success(l))]),
        answers(
            "Both are shared.", sharedCaller, sharedListener,
            [
                (.merge, nil, .failure(.differentZones)), (.merge, false, .failure(.declined)),
                (.merge, true, .success(c)), (.beside, nil, .success(nil)),
                (.replaceCaller, nil, .success(l)), (.replaceListener, nil, .failure(.declined)),
                (.replaceListener, true, .success(c)),
            ]),
        answers(
            "Both are shared, and hold the same.", caller(isShared: true, content: 7),
            listener(isShared: true, content: 7),
            [(.merge, nil, .success(c)), (.replaceListener, nil, .failure(.declined))]),
        answers(
            "Both are shared, and one of them is empty.", caller(0, isShared: true), sharedListener,
            [(.merge, nil, .failure(.differentZones))]),
        answers(
            "The listener may only read at the caller.", caller(isShared: true, rights: .read),
            sharedListener,
            [
                (.merge, nil, .failure(.notPermitted)), (.beside, nil, .success(nil)),
                (.replaceCaller, nil, .failure(.notPermitted)), (.replaceListener, true, .success(c)),
            ]),
        answers(
            "The caller may only read at the listener. That counts before whether anybody allows it.",
            sharedCaller, listener(isShared: true, rights: .read),
            [
                (.merge, false, .failure(.notPermitted)), (.beside, nil, .success(nil)),
                (.replaceCaller, nil, .success(l)), (.replaceListener, nil, .failure(.notPermitted)),
                (.replaceListener, true, .failure(.notPermitted)),
            ]),
        answers(
            "The listener has the caller's zone, which is the one that is shared, beside its own.",
            sharedCaller,
            listener().has(c),
            [
                (.merge, nil, .failure(.differentZones)), (.merge, true, .failure(.notPermitted)),
                (.replaceCaller, nil, .success(l)),
                (.replaceListener, true, .failure(.notPermitted)),
                (.replaceListener, nil, .failure(.declined)),
            ]),
    ]

    // MARK: Confirmations

    private static func confirmations(
        _ why: String, _ caller: Side, _ listener: Side,
        _ results: [(ZoneUnion, open: (ZoneUnion, [ZoneID]), ProtocolError.Code?)]
    ) -> Meeting {
        Meeting(
            why: why, caller: caller, listener: listener,
            results: results.map { union, open, error in
                let zones = open.1.map { JSON.object(JSON.zone($0) + [("received", .null)]) }
                return [
                    "union": .union(union), "open": ["union": .union(open.0), "zones": .array(zones)],
                    "error": .optional(error, JSON.code),
                ]
            })
    }

    private static let confirmations = [
        confirmations(
            "The listener agrees.", caller(), listener(),
            [
                (.merge, open: (.merge, [c]), nil), (.beside, open: (.beside, [l]), nil),
                (.replaceCaller, open: (.replaceCaller, [garden, l]), nil),
                (.replaceListener, open: (.replaceListener, [c]), nil),
            ]),
        confirmations(
            "The default zones do not meet, so none has to be there.", closedCaller, listener(),
            [(.none, open: (.none, [garden]), nil)]),
        confirmations(
            "The union is another one.", caller(), listener(),
            [
                (.merge, open: (.none, [c]), .unexpectedMessage),
                (.replaceCaller, open: (.none, [l]), .unexpectedMessage),
                (.replaceCaller, open: (.replaceListener, [l]), .unexpectedMessage),
                (.replaceListener, open: (.replaceCaller, [c, l]), .unexpectedMessage),
            ]),
        confirmations(
            "The listener has another union than none.", closedCaller, listener(),
            [(.none, open: (.merge, [c]), .unexpectedMessage)]),
        confirmations(
            "The zone to be is not there; with union 2 the listener's default zone is not.", caller(),
            listener(),
            [
                (.merge, open: (.merge, [l]), .unexpectedMessage),
                (.beside, open: (.beside, [c]), .unexpectedMessage),
                (.replaceCaller, open: (.replaceCaller, [c]), .unexpectedMessage),
                (.replaceCaller, open: (.replaceCaller, []), .unexpectedMessage),
                (.replaceListener, open: (.replaceListener, [garden, l]), .unexpectedMessage),
            ]),
    ]
}

extension JSON {
    fileprivate static func union(_ union: ZoneUnion) -> JSON { .number(Int(union.rawValue)) }

    fileprivate static func code(_ code: ProtocolError.Code) -> JSON { .number(Int(code.rawValue)) }
}
