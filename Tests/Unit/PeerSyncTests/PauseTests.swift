import Testing

@testable import PeerSync

/// A pause lasts its time, unless somebody has a reason to go on at once.
struct PauseTests {
    private static let long: Duration = .seconds(3600)

    @Test(.timeLimit(.minutes(1))) func whoHurriesEndsAPauseAndOnlyThat() async {
        let pause = Pause()
        for _ in 1...3 {
            async let end: Void = pause.sleep(Self.long)
            pause.hurry()
            await end
        }
        // None of that is left for later.
        let begin = ContinuousClock.now
        await pause.sleep(.milliseconds(50))
        #expect(ContinuousClock.now - begin >= .milliseconds(50))
    }

    @Test(.timeLimit(.minutes(1))) func hurryingInBetweenEndsTheNextPause() async {
        let pause = Pause()
        pause.hurry()
        pause.hurry()
        await pause.sleep(Self.long)
        let begin = ContinuousClock.now
        await pause.sleep(.milliseconds(50))
        #expect(ContinuousClock.now - begin >= .milliseconds(50))
    }

    @Test(.timeLimit(.minutes(1))) func aTaskThatIsCancelledSleepsNoLonger() async {
        let pause = Pause()
        let task = Task { await pause.sleep(Self.long) }
        task.cancel()
        await task.value
    }
}
