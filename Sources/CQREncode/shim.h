#ifndef CQRENCODE_SHIM_H
#define CQRENCODE_SHIM_H

/* A header of our own, because a module map cannot name <qrencode.h> without its absolute path, which differs between
   Linux and Homebrew. */
#include <qrencode.h>

#endif
