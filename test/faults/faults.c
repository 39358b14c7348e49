/**
 * A library for LD_PRELOAD between a program and the C library: it fails a chosen system call, or records what a power cut could undo. Only
 * calls about paths under FAULTS_UNDER are touched, so the program starts as ever.
 *
 *   FAULTS_UNDER   an absolute directory without symbolic links
 *   FAULTS_STATE   a file that is made: how many calls of each kind there were, and what was failed (`struct state`)
 *   FAULTS_KIND    the kind of call to fail (`kinds`), FAULTS_NTH which of them, from 1; FAULTS_ERROR the errno, or 0 for a short count;
 *                  FAULTS_LASTING=1 fails those after it too
 *   FAULTS_RECORD  a file to which each change is appended, in order (`struct record`)
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { OPEN, READ, WRITE, SYNC, TRUNCATE, RENAME, UNLINK, MKDIR, MMAP, STAT, LIST, LOCK, CHMOD, CLOSE, MALLOC, KINDS };
static const char *const kinds[KINDS] = {"open",   "read", "write", "sync", "truncate", "rename", "unlink",
                                         "mkdir", "mmap", "stat",  "list", "lock",     "chmod",  "close", "malloc"};

/** test/faults/inject.ts reads it. */
struct state {
  _Atomic uint32_t counts[KINDS];
  _Atomic uint32_t failed;
  /** What was failed first: the function and the path. */
  char what[256];
};

enum change { WRITTEN = 1, TRUNCATED, CREATED, MADE_DIRECTORY, RENAMED, REMOVED, SYNCED, PRINTED };

/** test/faults/power.ts reads it; the path, the second path and the data follow. */
struct record {
  uint32_t change, is_durable, path_bytes, second_bytes;
  uint64_t offset, data_bytes;
};

static const char *under;
static size_t under_length;
static struct state nowhere, *state = &nowhere;
static int failing = -1, error, is_lasting, log_descriptor = -1;
static uint32_t nth;
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;

static const char *variable(const char *name) {
  const char *value = getenv(name);
  return value ? value : "";
}

__attribute__((constructor)) static void begin(void) {
  under = variable("FAULTS_UNDER");
  under_length = strlen(under);
  for (int kind = 0; kind < KINDS; kind++)
    if (!strcmp(variable("FAULTS_KIND"), kinds[kind])) failing = kind;
  nth = (uint32_t)atoi(variable("FAULTS_NTH"));
  error = atoi(variable("FAULTS_ERROR"));
  is_lasting = *variable("FAULTS_LASTING") == '1';
  // Not by the functions below, which would look at them.
  const char *file = variable("FAULTS_STATE");
  if (*file) {
    int descriptor = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (syscall(SYS_ftruncate, descriptor, sizeof *state) != 0) abort();
    state = (struct state *)syscall(SYS_mmap, NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  }
  file = variable("FAULTS_RECORD");
  if (*file) log_descriptor = (int)syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static int is_under(const char *path) {
  return under_length > 0 && !strncmp(path, under, under_length) && (path[under_length] == '/' || path[under_length] == 0);
}

/** The path of an open descriptor, or NULL where it is none of ours. */
static const char *path_of(int descriptor, char path[PATH_MAX]) {
  char link[40];
  int before = errno;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
  errno = before;
  if (length <= 0) return NULL;
  path[length] = 0;
  return is_under(path) ? path : NULL;
}

/** The path that a call names by directory and name, or NULL where it is none of ours. */
static const char *path_at(int directory, const char *name, char path[PATH_MAX]) {
  if (!name) return NULL;
  if (*name == '/') return is_under(name) ? name : NULL;
  char beginning[PATH_MAX];
  if (directory == AT_FDCWD || !path_of(directory, beginning)) return NULL;
  if (snprintf(path, PATH_MAX, "%s%s%s", beginning, *name ? "/" : "", name) >= PATH_MAX) abort();
  return path;
}

/** Counts a call; whether it is to fail. */
static int is_failing(enum kind kind, const char *function, const char *path) {
  if (!path) return 0;
  uint32_t now = atomic_fetch_add(&state->counts[kind], 1) + 1;
  if ((int)kind != failing || (is_lasting ? now < nth : now != nth)) return 0;
  if (atomic_fetch_add(&state->failed, 1) == 0) snprintf(state->what, sizeof state->what, "%s %s", function, path);
  return 1;
}

static size_t half(size_t bytes) { return bytes > 1 ? bytes / 2 : bytes; }

static void put(const void *bytes, size_t length) {
  for (size_t at = 0; at < length;) {
    ssize_t written = syscall(SYS_write, log_descriptor, (const char *)bytes + at, length - at);
    if (written <= 0) abort();
    at += (size_t)written;
  }
}

static void record(enum change change, int is_durable, const char *path, const char *second, uint64_t offset,
                   const struct iovec *parts, int count, size_t bytes) {
  if (log_descriptor < 0) return;
  int before = errno;
  struct record head = {change, (uint32_t)is_durable, (uint32_t)strlen(path), second ? (uint32_t)strlen(second) : 0, offset,
                        count > 0 ? bytes : 0};
  put(&head, sizeof head);
  put(path, head.path_bytes);
  if (second) put(second, head.second_bytes);
  for (int i = 0; i < count && bytes > 0; i++) {
    size_t length = parts[i].iov_len < bytes ? parts[i].iov_len : bytes;
    put(parts[i].iov_base, length);
    bytes -= length;
  }
  errno = before;
}

static void record_name(enum change change, const char *path, const char *second) {
  record(change, 0, path, second, 0, NULL, 0, 0);
}

/** While it is held, calls happen in the order in which they are recorded. */
static void hold(void) {
  if (log_descriptor >= 0) pthread_mutex_lock(&order);
}
static void release(void) {
  if (log_descriptor >= 0) pthread_mutex_unlock(&order);
}

#define REAL(name) \
  static __typeof__(name) *real; \
  if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

/** Returns with the error where the call is to fail. */
#define FAIL_IF(kind, path) \
  if (is_failing(kind, __func__, path)) { \
    errno = error; \
    return -1; \
  }

// Opening.

static void look_for_addon(void);

static int open_file(const char *function, int directory, const char *name, int flags, mode_t mode) {
  char space[PATH_MAX];
  const char *path = path_at(directory, name, space);
  if (is_failing(OPEN, function, path)) {
    errno = error;
    return -1;
  }
  if (path) look_for_addon();
  hold();
  struct stat found;
  int before = errno;
  int is_new = path && (flags & O_CREAT) && syscall(SYS_newfstatat, directory, name, &found, 0) != 0;
  errno = before;
  int descriptor = (int)syscall(SYS_openat, directory, name, flags, mode);
  if (descriptor >= 0 && path && is_new) record_name(CREATED, path, NULL);
  if (descriptor >= 0 && path && !is_new && (flags & O_TRUNC)) record(TRUNCATED, 0, path, NULL, 0, NULL, 0, 0);
  release();
  return descriptor;
}

#define MODE_OF(flags) \
  mode_t mode = 0; \
  if ((flags) & (O_CREAT | O_TMPFILE)) { \
    va_list rest; \
    va_start(rest, flags); \
    mode = va_arg(rest, mode_t); \
    va_end(rest); \
  }

int open(const char *name, int flags, ...) {
  MODE_OF(flags)
  return open_file("open", AT_FDCWD, name, flags, mode);
}
int open64(const char *name, int flags, ...) {
  MODE_OF(flags)
  return open_file("open", AT_FDCWD, name, flags | O_LARGEFILE, mode);
}
int openat(int directory, const char *name, int flags, ...) {
  MODE_OF(flags)
  return open_file("openat", directory, name, flags, mode);
}
int openat64(int directory, const char *name, int flags, ...) {
  MODE_OF(flags)
  return open_file("openat", directory, name, flags | O_LARGEFILE, mode);
}

int close(int descriptor) {
  char space[PATH_MAX];
  const char *path = path_of(descriptor, space);
  int is_to_fail = is_failing(CLOSE, "close", path);
  // As Linux does: the descriptor is closed whatever is returned.
  int result = (int)syscall(SYS_close, descriptor);
  if (!is_to_fail) return result;
  errno = error;
  return -1;
}

// Reading and writing. `real` is the system call; `offset` is -1 for the descriptor's own.

static ssize_t read_parts(int call, int descriptor, const struct iovec *parts, int count, off_t offset) {
  char space[PATH_MAX];
  int is_vector = call == SYS_readv || call == SYS_preadv;
  if (is_failing(READ, is_vector ? "readv" : offset < 0 ? "read" : "pread", path_of(descriptor, space))) {
    if (error != 0) {
      errno = error;
      return -1;
    }
    size_t bytes = half(parts[0].iov_len);
    if (offset < 0) return syscall(SYS_read, descriptor, parts[0].iov_base, bytes);
    return syscall(SYS_pread64, descriptor, parts[0].iov_base, bytes, offset);
  }
  if (is_vector) return syscall(call, descriptor, parts, count, offset, 0);
  return syscall(call, descriptor, parts[0].iov_base, parts[0].iov_len, offset);
}

static ssize_t write_parts(int call, int descriptor, const struct iovec *parts, int count, off_t offset) {
  char space[PATH_MAX];
  const char *path = path_of(descriptor, space);
  int is_vector = call == SYS_writev || call == SYS_pwritev;
  hold();
  ssize_t written;
  if (is_failing(WRITE, is_vector ? "writev" : offset < 0 ? "write" : "pwrite", path)) {
    if (error != 0) {
      release();
      errno = error;
      return -1;
    }
    size_t bytes = half(parts[0].iov_len);
    written = offset < 0 ? syscall(SYS_write, descriptor, parts[0].iov_base, bytes)
                         : syscall(SYS_pwrite64, descriptor, parts[0].iov_base, bytes, offset);
  } else {
    written = is_vector ? syscall(call, descriptor, parts, count, offset, 0)
                        : syscall(call, descriptor, parts[0].iov_base, parts[0].iov_len, offset);
  }
  if (log_descriptor >= 0 && written > 0) {
    int before = errno;
    if (path) {
      int is_durable = (syscall(SYS_fcntl, descriptor, F_GETFL) & O_DSYNC) != 0;
      uint64_t at = (uint64_t)(offset >= 0 ? offset : syscall(SYS_lseek, descriptor, 0, SEEK_CUR) - written);
      record(WRITTEN, is_durable, path, NULL, at, parts, count, (size_t)written);
    } else if (descriptor == STDOUT_FILENO) {
      record(PRINTED, 1, "", NULL, 0, parts, count, (size_t)written);
    }
    errno = before;
  }
  release();
  return written;
}

#define ONE(bytes, length) &(struct iovec){(void *)(bytes), length}, 1

/**
 * What is recorded happens before a power cut, so in another boot than what opens its remains: LMDB knows by this id whether what it
 * wrote and did not flush is there.
 */
static void change_boot(int descriptor, char *text) {
  char link[40], path[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
  if (length <= 0) return;
  path[length] = 0;
  if (!strcmp(path, "/proc/sys/kernel/random/boot_id")) *text = *text == '1' ? '2' : '1';
}

ssize_t read(int d, void *bytes, size_t length) {
  ssize_t got = read_parts(SYS_read, d, ONE(bytes, length), -1);
  if (log_descriptor >= 0 && got > 0) change_boot(d, bytes);
  return got;
}
ssize_t readv(int d, const struct iovec *parts, int count) { return read_parts(SYS_readv, d, parts, count, -1); }
ssize_t pread(int d, void *bytes, size_t length, off_t at) { return read_parts(SYS_pread64, d, ONE(bytes, length), at); }
ssize_t pread64(int d, void *bytes, size_t length, off_t at) { return read_parts(SYS_pread64, d, ONE(bytes, length), at); }
ssize_t preadv(int d, const struct iovec *parts, int count, off_t at) { return read_parts(SYS_preadv, d, parts, count, at); }
ssize_t preadv64(int d, const struct iovec *parts, int count, off_t at) { return read_parts(SYS_preadv, d, parts, count, at); }
ssize_t write(int d, const void *bytes, size_t length) { return write_parts(SYS_write, d, ONE(bytes, length), -1); }
ssize_t writev(int d, const struct iovec *parts, int count) { return write_parts(SYS_writev, d, parts, count, -1); }
ssize_t pwrite(int d, const void *bytes, size_t length, off_t at) { return write_parts(SYS_pwrite64, d, ONE(bytes, length), at); }
ssize_t pwrite64(int d, const void *bytes, size_t length, off_t at) { return write_parts(SYS_pwrite64, d, ONE(bytes, length), at); }
ssize_t pwritev(int d, const struct iovec *parts, int count, off_t at) { return write_parts(SYS_pwritev, d, parts, count, at); }
ssize_t pwritev64(int d, const struct iovec *parts, int count, off_t at) { return write_parts(SYS_pwritev, d, parts, count, at); }

/** Copies within the kernel are done by hand, so that they are reads and writes as all others. */
static ssize_t copy(int to, int from, off_t *from_offset, off_t *to_offset, size_t length) {
  char bytes[65536];
  size_t most = length < sizeof bytes ? length : sizeof bytes;
  ssize_t got = from_offset ? pread(from, bytes, most, *from_offset) : read(from, bytes, most);
  if (got <= 0) return got;
  ssize_t written = to_offset ? pwrite(to, bytes, (size_t)got, *to_offset) : write(to, bytes, (size_t)got);
  if (!from_offset && written < got) syscall(SYS_lseek, from, (written > 0 ? written : 0) - got, SEEK_CUR);
  if (written <= 0) return written;
  if (from_offset) *from_offset += written;
  if (to_offset) *to_offset += written;
  return written;
}
static int is_ours(int descriptor) {
  char space[PATH_MAX];
  return path_of(descriptor, space) != NULL;
}
ssize_t sendfile(int to, int from, off_t *at, size_t length) {
  if (!is_ours(to) && !is_ours(from)) return syscall(SYS_sendfile, to, from, at, length);
  return copy(to, from, at, NULL, length);
}
ssize_t sendfile64(int to, int from, off_t *at, size_t length) { return sendfile(to, from, at, length); }
ssize_t copy_file_range(int from, off_t *from_at, int to, off_t *to_at, size_t length, unsigned flags) {
  if (!is_ours(to) && !is_ours(from)) return syscall(SYS_copy_file_range, from, from_at, to, to_at, length, flags);
  return copy(to, from, from_at, to_at, length);
}

// Making durable.

static int sync_file(const char *function, int call, int descriptor) {
  char space[PATH_MAX];
  const char *path = path_of(descriptor, space);
  if (is_failing(SYNC, function, path)) {
    errno = error;
    return -1;
  }
  hold();
  int result = (int)syscall(call, descriptor);
  if (result == 0 && path) record_name(SYNCED, path, NULL);
  release();
  return result;
}
int fsync(int descriptor) { return sync_file("fsync", SYS_fsync, descriptor); }
int fdatasync(int descriptor) { return sync_file("fdatasync", SYS_fdatasync, descriptor); }

// Changing what is there.

int ftruncate(int descriptor, off_t length) {
  char space[PATH_MAX];
  const char *path = path_of(descriptor, space);
  FAIL_IF(TRUNCATE, path)
  hold();
  int result = (int)syscall(SYS_ftruncate, descriptor, length);
  if (result == 0 && path) record(TRUNCATED, 0, path, NULL, (uint64_t)length, NULL, 0, 0);
  release();
  return result;
}
int ftruncate64(int descriptor, off_t length) { return ftruncate(descriptor, length); }

int renameat2(int from, const char *old, int to, const char *new, unsigned flags) {
  char space[PATH_MAX], second[PATH_MAX];
  const char *path = path_at(from, old, space), *target = path_at(to, new, second);
  FAIL_IF(RENAME, path)
  hold();
  int result = (int)syscall(SYS_renameat2, from, old, to, new, flags);
  if (result == 0 && path && target) record_name(RENAMED, path, target);
  release();
  return result;
}
int renameat(int from, const char *old, int to, const char *new) { return renameat2(from, old, to, new, 0); }
int rename(const char *old, const char *new) { return renameat2(AT_FDCWD, old, AT_FDCWD, new, 0); }

int unlinkat(int directory, const char *name, int flags) {
  char space[PATH_MAX];
  const char *path = path_at(directory, name, space);
  FAIL_IF(UNLINK, path)
  hold();
  int result = (int)syscall(SYS_unlinkat, directory, name, flags);
  if (result == 0 && path) record_name(REMOVED, path, NULL);
  release();
  return result;
}
int unlink(const char *name) { return unlinkat(AT_FDCWD, name, 0); }
int rmdir(const char *name) { return unlinkat(AT_FDCWD, name, AT_REMOVEDIR); }
int remove(const char *name) {
  int result = unlink(name);
  return result != 0 && errno == EISDIR ? rmdir(name) : result;
}

int mkdirat(int directory, const char *name, mode_t mode) {
  char space[PATH_MAX];
  const char *path = path_at(directory, name, space);
  FAIL_IF(MKDIR, path)
  hold();
  int result = (int)syscall(SYS_mkdirat, directory, name, mode);
  if (result == 0 && path) record_name(MADE_DIRECTORY, path, NULL);
  release();
  return result;
}
int mkdir(const char *name, mode_t mode) { return mkdirat(AT_FDCWD, name, mode); }

int fchmodat(int directory, const char *name, mode_t mode, int flags) {
  char space[PATH_MAX];
  FAIL_IF(CHMOD, path_at(directory, name, space))
  REAL(fchmodat);
  return real(directory, name, mode, flags);
}
int chmod(const char *name, mode_t mode) { return fchmodat(AT_FDCWD, name, mode, 0); }
int fchmod(int descriptor, mode_t mode) {
  char space[PATH_MAX];
  FAIL_IF(CHMOD, path_of(descriptor, space))
  return (int)syscall(SYS_fchmod, descriptor, mode);
}

// Mapping, locking, looking.

void *mmap(void *address, size_t length, int protection, int flags, int descriptor, off_t offset) {
  char space[PATH_MAX];
  if (descriptor >= 0 && !(flags & MAP_ANONYMOUS) && is_failing(MMAP, "mmap", path_of(descriptor, space))) {
    errno = error;
    return MAP_FAILED;
  }
  return (void *)syscall(SYS_mmap, address, length, protection, flags, descriptor, offset);
}
void *mmap64(void *address, size_t length, int protection, int flags, int descriptor, off_t offset) {
  return mmap(address, length, protection, flags, descriptor, offset);
}

int fcntl64(int descriptor, int command, ...) {
  va_list rest;
  va_start(rest, command);
  void *argument = va_arg(rest, void *);
  va_end(rest);
  char space[PATH_MAX];
  if ((command == F_SETLK || command == F_SETLKW || command == F_GETLK) &&
      is_failing(LOCK, "fcntl", path_of(descriptor, space))) {
    errno = error;
    return -1;
  }
  return (int)syscall(SYS_fcntl, descriptor, command, argument);
}

int fstatat(int directory, const char *name, struct stat *found, int flags) {
  char space[PATH_MAX];
  FAIL_IF(STAT, *name ? path_at(directory, name, space) : path_of(directory, space))
  return (int)syscall(SYS_newfstatat, directory, name, found, flags);
}
int stat(const char *name, struct stat *found) { return fstatat(AT_FDCWD, name, found, 0); }
int lstat(const char *name, struct stat *found) { return fstatat(AT_FDCWD, name, found, AT_SYMLINK_NOFOLLOW); }
int fstat(int descriptor, struct stat *found) { return fstatat(descriptor, "", found, AT_EMPTY_PATH); }
int fstatat64(int d, const char *name, struct stat64 *found, int flags) { return fstatat(d, name, (struct stat *)found, flags); }
int stat64(const char *name, struct stat64 *found) { return stat(name, (struct stat *)found); }
int lstat64(const char *name, struct stat64 *found) { return lstat(name, (struct stat *)found); }
int fstat64(int descriptor, struct stat64 *found) { return fstat(descriptor, (struct stat *)found); }

int statx(int directory, const char *name, int flags, unsigned mask, struct statx *found) {
  char space[PATH_MAX];
  FAIL_IF(STAT, *name ? path_at(directory, name, space) : path_of(directory, space))
  return (int)syscall(SYS_statx, directory, name, flags, mask, found);
}
int access(const char *name, int mode) {
  char space[PATH_MAX];
  FAIL_IF(STAT, path_at(AT_FDCWD, name, space))
  return (int)syscall(SYS_faccessat, AT_FDCWD, name, mode);
}
int statfs(const char *name, struct statfs *found) {
  char space[PATH_MAX];
  FAIL_IF(STAT, path_at(AT_FDCWD, name, space))
  return (int)syscall(SYS_statfs, name, found);
}
int statfs64(const char *name, struct statfs64 *found) { return statfs(name, (struct statfs *)found); }

DIR *opendir(const char *name) {
  char space[PATH_MAX];
  if (is_failing(LIST, "opendir", path_at(AT_FDCWD, name, space))) {
    errno = error;
    return NULL;
  }
  REAL(opendir);
  return real(name);
}
int scandir64(const char *name, struct dirent64 ***found, int (*filter)(const struct dirent64 *),
              int (*compare)(const struct dirent64 **, const struct dirent64 **)) {
  char space[PATH_MAX];
  FAIL_IF(LIST, path_at(AT_FDCWD, name, space))
  REAL(scandir64);
  return real(name, found, filter, compare);
}

// Memory that LMDB's addon asks for, from when it has opened a file of ours.

static uintptr_t addon_begin, addon_end;

static int find_addon(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size;
  (void)unused;
  if (!strstr(info->dlpi_name, "lmdb")) return 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    uintptr_t end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
    if (info->dlpi_phdr[i].p_type == PT_LOAD && end > addon_end) addon_end = end;
  }
  addon_begin = info->dlpi_addr;
  return 1;
}

/** Called where a file is opened. */
static void look_for_addon(void) {
  if (!addon_end) dl_iterate_phdr(find_addon, NULL);
}

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);

static int is_out_of_memory(void *caller) {
  if ((uintptr_t)caller < addon_begin || (uintptr_t)caller >= addon_end) return 0;
  if (!is_failing(MALLOC, "malloc", "of LMDB")) return 0;
  errno = ENOMEM;
  return 1;
}
void *malloc(size_t bytes) {
  return is_out_of_memory(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes);
}
void *calloc(size_t count, size_t bytes) {
  return is_out_of_memory(__builtin_return_address(0)) ? NULL : __libc_calloc(count, bytes);
}
void *realloc(void *old, size_t bytes) {
  return is_out_of_memory(__builtin_return_address(0)) ? NULL : __libc_realloc(old, bytes);
}
