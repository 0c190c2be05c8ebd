#ifndef CDNSSERVICEDISCOVERY_SHIM_H
#define CDNSSERVICEDISCOVERY_SHIM_H

/* A header of our own, because the header is in a folder of its own on Linux, where it belongs to Avahi's compatibility
   library, and part of the system on macOS. Package.swift links the libraries on Linux; macOS has it in its system library. */
#if __has_include(<avahi-compat-libdns_sd/dns_sd.h>)
#include <avahi-common/malloc.h>
#include <avahi-compat-libdns_sd/dns_sd.h>
#include <stdlib.h>

static inline void *peersync_zeroed_memory(size_t size) { return calloc(1, size); }

/* Makes Avahi's libraries start with zeroed memory. The compatibility library sets only the callback of a request that the
   request has, but calls each one that is not NULL when Avahi ends. Without this it calls whatever lay there before. */
static inline void peersync_prepare_dns_sd(void) {
    static const AvahiAllocator allocator = {
        .malloc = peersync_zeroed_memory, .free = free, .realloc = realloc, .calloc = calloc};
    /* Otherwise it writes to standard error that programs had better use Avahi's own interface. */
    setenv("AVAHI_COMPAT_NOWARN", "1", 1);
    avahi_set_allocator(&allocator);
}
#else
#include <dns_sd.h>

static inline void peersync_prepare_dns_sd(void) {}
#endif

#endif
