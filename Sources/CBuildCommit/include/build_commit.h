#ifndef BUILD_COMMIT_H
#define BUILD_COMMIT_H

/// The commit that this program was built from, as whoever built it has said; NULL if nobody has.
///
/// The manifest passes it on from the environment. So a build costs nothing for it, and never names a commit that git
/// moved away from since.
const char *build_commit(void);

#endif
