#ifndef CSODIUM_SHIM_H
#define CSODIUM_SHIM_H

/* A header of our own, because a module map cannot name <sodium.h> without its absolute path,
   which differs between Linux and Homebrew. */
#include <sodium.h>

#endif
