// Notices that Codex has said nothing for too long, while it had a reason to speak.

export interface SilenceWatch {
  /** Something was said, or is to be said from now on. */
  heard(): void;
  /** Codex waits for the gateway meanwhile, and has no reason to speak. */
  ours<Result>(work: () => Promise<Result>): Promise<Result>;
  end(): void;
}

export function createSilenceWatch({
  afterMs,
  onSilent,
}: {
  afterMs: number;
  onSilent: () => void;
}): SilenceWatch {
  let waitingForUs = 0;
  let isOver = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const heard = () => {
    clearTimeout(timer);
    if (isOver || waitingForUs > 0) return;
    timer = setTimeout(onSilent, afterMs);
    timer.unref();
  };
  return {
    heard,
    async ours(work) {
      waitingForUs++;
      clearTimeout(timer);
      try {
        return await work();
      } finally {
        waitingForUs--;
        heard();
      }
    },
    end() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}
