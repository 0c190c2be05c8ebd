import PeerSyncMailbox
import Scorebook

/// What a mailbox says to people. The engine knows codes and names.
extension MailboxEvent {
    /// One line; nil for what is said together with others, when the mailbox is in step.
    ///
    /// - Parameter mailbox: what this machine calls it.
    func line(in mailbox: String) -> String? {
        switch self {
        case .changed, .inStep: nil
        case .refusedRecords(let machine, let names, let reason):
            EventPrinter.line(
                .refusedPeersRecords(name: machine, names, reason), naming: names.map(\.description))
        case .peerRefusedRecords(let machine, let names, let reason):
            EventPrinter.line(
                .peerRefusedRecords(name: machine, names, reason), naming: names.map(\.description))
        case .withheld(let machine, let zone, let count):
            EventPrinter.line(.withheld(name: machine, zone: zone, count: count))
        case .filesReceived(let machine, let count):
            "received \(count.counted("picture")) from \(machine) through “\(mailbox)”"
        case .filesWait(let machine, let error): "pictures from \(machine) wait: \(error.explanation)"
        case .introduced(let machine, let by): EventPrinter.line(.introduced(name: machine, by: by))
        case .removed(let machine, let by): EventPrinter.line(.removed(name: machine, by: by))
        case .zoneEnded(let machine, let zone):
            "\(machine) shares \(zone.map { "the zone “\($0)”" } ?? "the scorebook") with this machine no more; what is here stays"
        case .stopped(let machine, let error) where error.code == .notShared:
            error.explanation(in: mailbox, of: machine)
        case .stopped(nil, let error):
            "something in “\(mailbox)” cannot be read: \(error.explanation(in: mailbox))"
        case .stopped(let machine?, let error):
            "what \(machine) left in “\(mailbox)” cannot be read on: \(error.explanation(in: mailbox, of: machine))"
        case .wentBack(let machine):
            "“\(mailbox)” has gone back in time: something of \(machine) is gone that was there; nothing here is taken back"
        case .gone(let machine):
            "all is gone that \(machine) had left in “\(mailbox)”: it has removed that, or the storage has gone back in time; nothing here is taken back"
        case .ownObjectsLost:
            "“\(mailbox)” has lost what this machine had left there; everything goes there anew"
        case .restored:
            "“\(mailbox)” has newer things of this machine than this scorebook knows, as after a backup was restored; everything goes "
                + "there anew"
        case .failed(let error):
            "the mailbox “\(mailbox)” cannot be used now: \(error.explanation(in: mailbox))"
        case .recovered: "the mailbox “\(mailbox)” can be used again"
        }
    }
}

extension MailboxEntry {
    /// Why it cannot be used, and what helps; nil if it can.
    var trouble: String? { error?.explanation(in: name) }

    /// Why what a machine has left there cannot be read on, and what helps; nil if it can.
    func trouble(of machine: Machine) -> String? { machine.error?.explanation(in: name, of: machine.name) }

    /// Does something with it, so that what helps against an error names it.
    func naming<Value>(_ body: () async throws -> Value) async throws -> Value {
        do { return try await body() } catch let error as MailboxError {
            throw Failure(error, in: name)
        }
    }
}

extension [MailboxEntry] {
    /// Does something with each: one that cannot be used keeps nobody from the others.
    ///
    /// - Returns: why the first of those could not be used; the others are told here.
    func each(_ body: (MailboxEntry) async throws -> Void) async throws -> Failure? {
        var first: Failure?
        for entry in self {
            do { try await body(entry) } catch let error as MailboxError {
                let failure = Failure(error, in: entry.name)
                if first == nil {
                    first = failure
                } else {
                    Terminal.writeError("error: \(Display.printable(failure.message))")
                }
            }
        }
        return first
    }
}
