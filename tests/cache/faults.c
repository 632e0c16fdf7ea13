/* Fails, or dies at, the FAULT_AT-th step that changes a file below FAULT_DIR; writes the number of
   steps to FAULT_COUNT. Preloaded into a process of its own by test_faults.py. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static long steps;

static int below(const char *path) {
    const char *dir = getenv("FAULT_DIR");
    return dir && path && strncmp(path, dir, strlen(dir)) == 0;
}

static int watched(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0) return 0;
    path[n] = 0;
    return below(path);
}

/* 1: this step is to fail. */
static int step(void) {
    const char *at = getenv("FAULT_AT"), *kind = getenv("FAULT_KIND");
    if (++steps != (at ? atol(at) : 0)) return 0;
    if (kind && strcmp(kind, "kill") == 0) raise(SIGKILL);
    errno = kind && strcmp(kind, "full") == 0 ? ENOSPC : EIO;
    return 1;
}

#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

ssize_t pwrite64(int fd, const void *data, size_t n, off64_t at) {
    REAL(pwrite64);
    return watched(fd) && step() ? -1 : real(fd, data, n, at);
}
ssize_t pwrite(int fd, const void *data, size_t n, off_t at) {
    REAL(pwrite);
    return watched(fd) && step() ? -1 : real(fd, data, n, at);
}
ssize_t write(int fd, const void *data, size_t n) {
    REAL(write);
    return watched(fd) && step() ? -1 : real(fd, data, n);
}
int fsync(int fd) {
    REAL(fsync);
    return watched(fd) && step() ? -1 : real(fd);
}
int fdatasync(int fd) {
    REAL(fdatasync);
    return watched(fd) && step() ? -1 : real(fd);
}
int ftruncate64(int fd, off64_t n) {
    REAL(ftruncate64);
    return watched(fd) && step() ? -1 : real(fd, n);
}
int rename(const char *from, const char *to) {
    REAL(rename);
    return below(to) && step() ? -1 : real(from, to);
}
int unlink(const char *path) {
    REAL(unlink);
    return below(path) && step() ? -1 : real(path);
}

__attribute__((destructor)) static void say(void) {
    const char *path = getenv("FAULT_COUNT");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file) return;
    fprintf(file, "%ld", steps);
    fclose(file);
}
