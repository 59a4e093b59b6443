# Cross-compilation for 64-bit ARM (Debian: gcc-aarch64-linux-gnu, qemu-user): tests run under qemu-user.
# WTE_ARM64_ROOT: where the libraries of that machine lie, if not in the system (CONTRIBUTING.md).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
