import Foundation

// libsodium's guarded memory takes seven system calls for each secret, and a handshake has many: nearly all of the time
// would go there. So the fuzzer has these in its place; the tests run the same entries with those of the library.

@_cdecl("sodium_malloc")
public func allocateSecret(_ count: Int) -> UnsafeMutableRawPointer? { malloc(max(count, 1)) }

@_cdecl("sodium_free")
public func freeSecret(_ memory: UnsafeMutableRawPointer?) { free(memory) }

@_cdecl("sodium_mprotect_readonly")
public func protectSecret(_ memory: UnsafeMutableRawPointer?) -> Int32 { 0 }
