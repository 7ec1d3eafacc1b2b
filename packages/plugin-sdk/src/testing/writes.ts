// Says when this process is about to write a file, also in the middle of a text.
type Files = typeof import("node:fs");

/** Called ahead of each write. */
const watchers = new Set<() => void>();
/** What is written while somebody is told is theirs. */
let isTelling = false;

function tell(): void {
  if (isTelling) return;
  isTelling = true;
  try {
    for (const watcher of watchers) watcher();
  } finally {
    isTelling = false;
  }
}

/**
 * Calls `see` at the moments within `work` at which a kill leaves half of what is written: ahead of
 * each call of `node:fs` that changes a file and returns when it did, and between two halves of a
 * text that is written at once.
 */
export async function atEachWrite<Result>(
  see: () => void,
  work: () => Promise<Result>,
): Promise<Result> {
  const [{ default: files }, { syncBuiltinESMExports }] = await Promise.all([
    import("node:fs"),
    import("node:module"),
  ]);
  const watch = (methods: Partial<Files>) => {
    Object.assign(files, methods);
    syncBuiltinESMExports();
  };
  if (watchers.size === 0) {
    real = pick(files);
    watch(watched(real));
  }
  watchers.add(see);
  try {
    return await work();
  } finally {
    watchers.delete(see);
    if (watchers.size === 0) watch(real);
  }
}

/** Calls that change a file by themselves. */
const CHANGING = [
  "writeSync",
  "ftruncateSync",
  "truncateSync",
  "renameSync",
  "unlinkSync",
] as const;
const USED = [...CHANGING, "writeFileSync", "openSync", "closeSync"] as const;

type Used = Pick<Files, (typeof USED)[number]>;
/** As they are while nobody watches. */
let real: Used;

const pick = (files: Files): Used =>
  Object.fromEntries(USED.map((name) => [name, files[name]])) as unknown as Used;

/** Who has taken one of them does as before when nobody watches any more. */
const watched = (plain: Used): Partial<Used> => ({
  ...Object.fromEntries(
    CHANGING.map((name) => [
      name,
      (...args: unknown[]) => {
        tell();
        return (plain[name] as (...args: unknown[]) => unknown)(...args);
      },
    ]),
  ),
  writeFileSync(file, data, options) {
    tell();
    const write = plain.writeFileSync;
    const { flag, ...others } = optionsOf(options);
    const isText = typeof data === "string" && typeof file === "string";
    const isOne = flag !== "w" && flag !== "a";
    if (!isText || isOne || watchers.size === 0 || isTelling) return write(file, data, options);
    const bytes = Buffer.from(data, others.encoding ?? "utf8");
    // Nothing of the old text is there when the new one begins.
    if (flag === "w") plain.closeSync(plain.openSync(file, "w", others.mode ?? undefined));
    write(file, bytes.subarray(0, bytes.length / 2), { ...others, flag: "a" });
    tell();
    return write(file, bytes.subarray(bytes.length / 2), { ...others, flag: "a" });
  },
});

const optionsOf = (options: Parameters<Files["writeFileSync"]>[2]) => ({
  flag: "w",
  ...(typeof options === "string" ? { encoding: options } : options),
});
