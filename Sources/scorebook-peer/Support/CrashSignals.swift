import Foundation

/// The signals that Swift's runtime takes for a crash, whoever sends them: it prints where every thread is, and the
/// process goes on.
enum CrashSignals {
    /// Lets SIGQUIT (Ctrl-\) and a SIGABRT of another process end this one, as their senders expect. Crashes keep their
    /// backtrace.
    static func spareTheLiving() {
        #if os(Linux)
            var quit = sigaction()
            sigaction(SIGQUIT, nil, &quit)
            // Whoever ignores it goes on doing so. Nothing in a process that crashes raises it.
            if quit.sa_flags & SA_SIGINFO != 0 { signal(SIGQUIT, SIG_DFL) }

            sigaction(SIGABRT, nil, &runtimeAbort)
            guard runtimeAbort.sa_flags & SA_SIGINFO != 0 else { return }
            var abort = runtimeAbort
            abort.__sigaction_handler.sa_sigaction = { number, info, context in
                if let info, info.pointee._sifields._kill.si_pid == getpid() {
                    runtimeAbort.__sigaction_handler.sa_sigaction(number, info, context)
                } else {
                    // Takes effect when this returns, until when the signal is blocked.
                    signal(number, SIG_DFL)
                    raise(number)
                }
            }
            sigaction(SIGABRT, &abort, nil)
        #endif
    }
}

#if os(Linux)
    /// What the runtime does with a SIGABRT. Written once, before anything can read it.
    nonisolated(unsafe) private var runtimeAbort = sigaction()
#endif
