#ifndef CDNSSERVICEDISCOVERY_SHIM_H
#define CDNSSERVICEDISCOVERY_SHIM_H

/* A header of our own, because the header is in a folder of its own on Linux, where it belongs to Avahi's compatibility
   library, and part of the system on macOS. Package.swift links the library on Linux; macOS has it in its system library. */
#if __has_include(<avahi-compat-libdns_sd/dns_sd.h>)
#include <avahi-compat-libdns_sd/dns_sd.h>
#else
#include <dns_sd.h>
#endif

#endif
