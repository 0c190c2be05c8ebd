import PeerSyncChannel
import PeerSyncModel

/// The part of a session from the handshake to the agreement on zones.
extension Session {
    /// Handles the end of the handshake.
    package mutating func secured(_ channel: SecuredChannel) -> [Action] {
        guard case .handshake = phase else { return [] }
        guard channel.remoteKey != identity.key else {
            return fail(
                ProtocolError(
                    .sameIdentity,
                    "both sides have the same identity key: one store is a copy of the other, or they are one"
                ))
        }
        guard isCaller else {
            phase = .awaitingCaller(channel)
            return []
        }
        phase = .identifying(channel, nil)
        return [.findPeer(channel.remoteKey)]
    }

    /// Handles the store's answer: whether the two sides are paired.
    ///
    /// - Parameters:
    ///   - name: this side's name for the other; nil if the two are not paired.
    ///   - refusal: the error for a machine that is not paired.
    package mutating func peerFound(
        _ name: String?,
        orElse refusal: ProtocolError = ProtocolError(.notPaired, "the two machines are not paired")
    ) -> [Action] {
        guard case .identifying(let channel, let hello) = phase else { return [] }
        if let code = purpose.call?.pairing.code(isKnown: name != nil) {
            do {
                let (pairing, actions) = try SessionPairing.call(code, channel, as: identity)
                hasShownCode = true
                phase = .pairing(pairing)
                return actions
            } catch {
                return failed(error, toldToPeer: nil)
            }
        }
        guard let name else {
            return fail(refusal)
        }
        phase = .greeting(Greeting(peer: name, step: .readingOffers(theirs: hello)))
        return [.authenticated(didPair: false), .readOffers]
    }

    /// Begins the attempt with the pairing code that this side shows. The attempt counts from now on.
    package mutating func pairingAttemptBegan(_ code: PairingCode) -> [Action] {
        guard case .pairing(var pairing) = phase else { return [] }
        do {
            defer { phase = .pairing(pairing) }
            return try pairing.began(code)
        } catch {
            return failed(error, toldToPeer: nil)
        }
    }

    package mutating func pairingAttemptFailed(attemptsLeft: Int) -> [Action] {
        guard case .pairingFailed = phase else { return [] }
        return fail(SessionPairing.failed(attemptsLeft: attemptsLeft))
    }

    /// Notes that the store keeps the other side as a peer.
    ///
    /// - Parameter name: this side's name for the other.
    package mutating func peerKept(_ name: String) -> [Action] {
        guard case .pairing(var pairing) = phase else { return [] }
        didPair = true
        let actions = pairing.kept()
        phase = .greeting(
            Greeting(peer: name, step: isCaller ? .readingOffers(theirs: nil) : .awaitingHello))
        return actions + [.authenticated(didPair: true)] + (isCaller ? [.readOffers] : [])
    }

    /// Handles the store's offers: the zones that the other side may have.
    ///
    /// - Parameters:
    ///   - held: all zones of this store.
    ///   - declined: the zones that a user has deleted here.
    ///   - clock: this machine's clock, in milliseconds since 1970.
    package mutating func offersRead(
        _ offers: [ZoneOffer], held: Set<ZoneID>, declined: Set<ZoneID> = [], clock: Int64
    ) -> [Action] {
        guard case .greeting(var greeting) = phase, case .readingOffers(let theirs) = greeting.step else {
            return []
        }
        let hello = Message.Hello(
            minorVersion: ProtocolLimits.minorVersion, replica: identity.replica, instance: identity.instance,
            displayName: identity.displayName, clock: clock, zones: offers)
        let situation = ZoneAgreement.Situation(
            peer: greeting.peer, isCaller: isCaller, own: offers, theirs: [], held: held,
            declined: declined)
        guard let theirs else {
            greeting.step = .awaitingAnswer(situation)
            phase = .greeting(greeting)
            return [.send(.hello(hello))]
        }
        do {
            return [.send(.hello(hello))] + (try agree(situation, theirs))
        } catch {
            return [.send(.hello(hello))] + fail(error)
        }
    }

    // MARK: Agreeing

    mutating func agree(_ known: ZoneAgreement.Situation, _ hello: Message.Hello)
        throws(ProtocolError) -> [Action]
    {
        var situation = known
        situation.theirs = hello.zones
        situation.clock = hello.clock
        var agreement = ZoneAgreement(
            situation, startsOver: purpose.call?.startsOver ?? false,
            sparesOneZone: purpose.call?.sparesOneZone ?? false)
        let steps = isCaller ? try agreement.call(purpose.call?.union) : []
        phase = .agreeing(agreement)
        return [.enter(instance: hello.instance)] + actions(steps)
    }

    /// Handles the user's answer.
    package mutating func decided(_ answer: ZoneAnswer) -> [Action] {
        agreeing { agreement throws(ProtocolError) in
            guard agreement.isAsking else { return [] }
            return try agreement.decided(answer)
        }
    }

    /// The zones for which the other side gives up what it has, and its clock: ``ZoneAgreement/given``.
    package var given: (zones: [ZoneID], clock: Int64) {
        if case .agreeing(let agreement) = phase { agreement.given } else { ([], 0) }
    }

    /// Handles the other side's tokens from the store.
    package mutating func tokensRead(_ tokens: [ZoneID: ChangeToken]) -> [Action] {
        agreeing { $0.tokensRead(tokens) }
    }

    /// Notes that the store has made the agreed changes.
    package mutating func shared() -> [Action] { agreeing { $0.shared() } }

    private mutating func agreeing(
        _ body: (inout ZoneAgreement) throws(ProtocolError) -> [ZoneAgreement.Step]
    ) -> [Action] {
        guard case .agreeing(var agreement) = phase else { return [] }
        do {
            let wasAsking = agreement.isAsking
            let steps = try body(&agreement)
            phase = .agreeing(agreement)
            return (wasAsking ? [.checkPairing] : []) + actions(steps)
        } catch {
            return fail(error)
        }
    }

    mutating func actions(_ steps: [ZoneAgreement.Step]) -> [Action] {
        steps.flatMap { step -> [Action] in
            switch step {
            case .ask(let question): [.ask(question)]
            case .readTokens(let zones): [.readTokens(zones)]
            case .share(let plan): [.share(plan)]
            case .send(let message): [.send(message)]
            case .agreed(let entries): agreed(entries)
            }
        }
    }

    private mutating func agreed(_ entries: [ZoneAgreement.Entry]) -> [Action] {
        guard !entries.isEmpty else {
            return fail(ProtocolError(.noCommonZone, "the two machines share no zone"))
        }
        phase = .granting(entries)
        let startsOver = purpose.call?.startsOver ?? false
        return [.open(entries)] + (startsOver ? [.startOver(entries)] : []) + [.readGrants]
    }
}
