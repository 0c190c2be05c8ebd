import Foundation

/// The signals that Swift's runtime takes for a crash, even if another process sends them. The runtime then prints
/// where every thread is, and the process goes on.
enum CrashSignals {
    /// Lets SIGQUIT (Ctrl-\) and a SIGABRT of another process end this one, as their senders expect. Crashes keep their
    /// backtrace.
    static func spareTheLiving() {
        #if os(Linux)
            var quit = sigaction()
            sigaction(SIGQUIT, nil, &quit)
            // A process that ignores SIGQUIT goes on ignoring it. No crash raises SIGQUIT.
            if quit.sa_flags & SA_SIGINFO != 0 { signal(SIGQUIT, SIG_DFL) }

            sigaction(SIGABRT, nil, &runtimeAbort)
            guard runtimeAbort.sa_flags & SA_SIGINFO != 0 else { return }
            var abort = runtimeAbort
            abort.__sigaction_handler.sa_sigaction = { number, info, context in
                if let info, info.pointee._sifields._kill.si_pid == getpid() {
                    runtimeAbort.__sigaction_handler.sa_sigaction(number, info, context)
                } else {
                    // The signal is blocked until this handler returns. Then it ends the process.
                    signal(number, SIG_DFL)
                    raise(number)
                }
            }
            sigaction(SIGABRT, &abort, nil)
        #endif
    }
}

#if os(Linux)
    /// The runtime's handler for SIGABRT. Written once, before anything can read it.
    nonisolated(unsafe) private var runtimeAbort = sigaction()
#endif
