// Counts rejections that nobody awaited, in place of a test runner that would fail for them.

export interface StrayListener {
  count(): number;
  /** Resolves when the process has told of those that there are. */
  settled(): Promise<void>;
  /** Gives the runner its listeners back. */
  stop(): void;
}

export function watchStrays(): StrayListener {
  const before = process.listeners("unhandledRejection");
  let seen = 0;
  const listener = () => void seen++;
  process.removeAllListeners("unhandledRejection");
  process.on("unhandledRejection", listener);
  return {
    count: () => seen,
    settled: () => new Promise((resolve) => setTimeout(resolve, 1)),
    stop() {
      process.off("unhandledRejection", listener);
      for (const one of before) process.on("unhandledRejection", one);
    },
  };
}
