/* Preloaded into a process, makes every sync to disk take 10 ms longer. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

int fsync(int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  usleep(10000);
  return real(fd);
}

int fdatasync(int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  usleep(10000);
  return real(fd);
}
