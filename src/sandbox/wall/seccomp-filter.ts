/**
 * Refuses system calls that no component needs and that lead out of its namespaces, to other processes, or to rarely
 * reviewed kernel code. Numbers are from asm/unistd_64.h (x64) and asm-generic/unistd.h (arm64). A call without a number
 * does not exist there.
 */
type Numbers = readonly [x64: number, arm64?: number];

export const REFUSED: Readonly<Record<string, Numbers>> = {
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  kcmp: [312, 272],
  pidfd_getfd: [438, 438],
  process_madvise: [440, 440],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  fanotify_init: [300, 262],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  unshare: [272, 97],
  setns: [308, 268],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  acct: [163, 89],
  syslog: [103, 116],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  iopl: [172],
  ioperm: [173],
  modify_ldt: [154],
  uselib: [134],
  ustat: [136],
  sysfs: [139],
  vhangup: [153, 58],
  personality: [135, 92],
  lookup_dcookie: [212, 18],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  setpriority: [141, 140],
  sched_setscheduler: [144, 119],
  sched_setparam: [142, 118],
  sched_setattr: [314, 274],
  ioprio_set: [251, 30],
  move_pages: [279, 239],
  migrate_pages: [256, 238],
  mbind: [237, 235],
  set_mempolicy: [238, 237],
  memfd_secret: [447, 447],
};

export const STARTS: Readonly<Record<string, Numbers>> = { fork: [57], vfork: [58] };

export const JUDGED = { clone: [56, 220], clone3: [435, 435], socket: [41, 198], socketpair: [53, 199], ioctl: [16, 29] } as const;

/** `struct sock_filter`. */
export interface Instruction {
  readonly code: number;
  readonly jt: number;
  readonly jf: number;
  readonly k: number;
}

const [EPERM, ENOSYS, EAFNOSUPPORT] = [1, 38, 97];
const [ALLOW, KILL_PROCESS, ERRNO] = [0x7fff0000, 0x80000000, 0x00050000];
const [LOAD, JEQ, JGE, JSET, AND, RET] = [0x20, 0x15, 0x35, 0x45, 0x54, 0x06];
const [OFFSET_OF_NUMBER, OFFSET_OF_ARCH] = [0, 4];
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET; and CLONE_THREAD, without which clone makes a process. */
const [NEW_NAMESPACES, NEW_THREAD] = [0x7e020000, 0x00010000];
const [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, SOCK_STREAM, SOCK_SEQPACKET] = [1, 2, 10, 16, 1, 5];
const [TIOCSTI, TIOCLINUX] = [0x5412, 0x541c];
const X32_CALLS = 0x40000000;
const MACHINES: Readonly<Record<string, { column: 0 | 1; audit: number }>> = { x64: { column: 0, audit: 0xc000003e }, arm64: { column: 1, audit: 0xc00000b7 } };

function instruction(code: number, k: number, [jt, jf]: readonly [number, number] = [0, 0]): Instruction {
  return { code, jt, jf, k };
}

const load = (offset: number): Instruction => instruction(LOAD, offset);
const answer = (k: number): Instruction => instruction(RET, k);
const refuse = (errno: number): Instruction => answer(ERRNO | errno);
/** Skips `jt` instructions when the value is `k`, otherwise `jf`. */
const ifEqual = (k: number, jt: number, jf: number): Instruction => instruction(JEQ, k, [jt, jf]);
/** Low 32 bits of an argument. Both machines are little-endian. */
const loadArgument = (index: number): Instruction => load(16 + 8 * index);

/** The block must return on every path. */
function when(number: number | undefined, block: readonly Instruction[]): readonly Instruction[] {
  return number === undefined ? [] : [ifEqual(number, 0, block.length), ...block];
}

interface Allowed {
  readonly allowsPrograms: boolean;
  readonly allowsLocalSockets?: boolean;
}

export function seccompProgram(arch: string, { allowsPrograms, allowsLocalSockets = false }: Allowed): readonly Instruction[] | undefined {
  const machine = MACHINES[arch];
  if (machine === undefined) return undefined;
  const { column, audit } = machine;
  const refused = { ...REFUSED, ...(allowsPrograms ? {} : STARTS) };
  const newProcess = allowsPrograms ? [answer(ALLOW)] : [instruction(JSET, NEW_THREAD, [1, 0]), refuse(EPERM), answer(ALLOW)];
  return [
    load(OFFSET_OF_ARCH),
    ifEqual(audit, 1, 0),
    answer(KILL_PROCESS),
    load(OFFSET_OF_NUMBER),
    // x32 calls have the same arch.
    ...(arch === "x64" ? [instruction(JGE, X32_CALLS, [0, 1]), refuse(ENOSYS)] : []),
    ...when(JUDGED.clone[column], [loadArgument(0), instruction(JSET, NEW_NAMESPACES, [0, 1]), refuse(EPERM), ...newProcess]),
    // clone3's flags are in memory, which a filter cannot read. The C library falls back to clone.
    ...when(JUDGED.clone3[column], [refuse(ENOSYS)]),
    ...when(JUDGED.socket[column], [
      loadArgument(0),
      ...(allowsLocalSockets ? [ifEqual(AF_UNIX, 0, 1), answer(ALLOW)] : []),
      ifEqual(AF_INET, 3, 0),
      ifEqual(AF_INET6, 2, 0),
      ifEqual(AF_NETLINK, 2, 0),
      refuse(EAFNOSUPPORT),
      answer(ALLOW),
      // Only NETLINK_ROUTE, which lists this machine's addresses.
      loadArgument(2),
      ifEqual(0, 0, 1),
      answer(ALLOW),
      refuse(EAFNOSUPPORT),
    ]),
    // A pair of datagram sockets could send to any abstract address.
    ...when(JUDGED.socketpair[column], [
      loadArgument(0),
      ifEqual(AF_UNIX, 0, 4),
      loadArgument(1),
      instruction(AND, 0xf),
      ifEqual(SOCK_STREAM, 2, 0),
      ifEqual(SOCK_SEQPACKET, 1, 0),
      refuse(EAFNOSUPPORT),
      answer(ALLOW),
    ]),
    ...when(JUDGED.ioctl[column], [loadArgument(1), ifEqual(TIOCSTI, 1, 0), ifEqual(TIOCLINUX, 0, 1), refuse(EPERM), answer(ALLOW)]),
    ...Object.values(refused).flatMap((numbers) => when(numbers[column], [refuse(EPERM)])),
    answer(ALLOW),
  ];
}

/** Jump offsets have 8 bits. */
const MOST_SKIPPED = 255;

export function programBytes(program: readonly Instruction[]): Uint8Array {
  const bytes = new Uint8Array(program.length * 8);
  // Buffer checks each of thousands of numbers, and V8 would load its optimizing compiler for that.
  const view = new DataView(bytes.buffer);
  program.forEach(({ code, jt, jf, k }, index) => {
    const wrong = [jt, jf].find((skipped) => !(skipped >= 0 && skipped <= MOST_SKIPPED));
    if (wrong !== undefined) throw new RangeError(`instruction ${index} jumps over ${wrong} others: expected 0 to ${MOST_SKIPPED}`);
    view.setUint16(index * 8, code, true);
    view.setUint8(index * 8 + 2, jt);
    view.setUint8(index * 8 + 3, jf);
    view.setUint32(index * 8 + 4, k, true);
  });
  return bytes;
}
