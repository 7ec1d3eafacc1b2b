// Says in one line of a terminal's error output that a command is still at work.

/** Nothing is said of work that ends within this time, nor so soon after other words, ms. */
const QUIET_MS = 300;
const FRAME_MS = 100;
const FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
const CLEAR = "\r\u001b[K";

export interface ProgressLine {
  /** What is done now; cheap enough for each step. */
  says(text: string): void;
  /** Takes the line away for other words; it comes again when nothing else is said for a while. */
  yields(): void;
  /** Somebody is asked something; until `ends`, or until what it gives back is called. */
  pauses(): () => void;
  ends(): void;
}

interface Screen {
  readonly columns?: number;
  write(bytes: string): unknown;
}

/** `now`: monotonic ms. */
export function showProgressLine(
  screen: Screen,
  text: string,
  now: () => number = () => performance.now(),
): ProgressLine {
  const began = now();
  let saying = text;
  let due = began + QUIET_MS;
  let isShown = false;
  let frame = 0;
  let painted = Number.NEGATIVE_INFINITY;
  const clear = () => {
    if (isShown) screen.write(CLEAR);
    isShown = false;
  };
  const paint = () => {
    const time = now();
    if (time < due || time < painted + FRAME_MS / 2) return;
    painted = time;
    const sign = FRAMES[frame++ % FRAMES.length];
    const line = `${sign} ${saying} · ${Math.floor((time - began) / 1000)} s`;
    screen.write(`\r${line.slice(0, Math.max(1, (screen.columns || 80) - 1))}\u001b[K`);
    isShown = true;
  };
  const begin = () => setInterval(paint, FRAME_MS).unref();
  let timer: NodeJS.Timeout | undefined = begin();
  const stop = () => {
    clearInterval(timer);
    timer = undefined;
    clear();
  };
  return {
    says(next) {
      saying = next;
      // Work that lets no timer come between paints by what it says.
      if (timer !== undefined) paint();
    },
    yields() {
      clear();
      due = now() + QUIET_MS;
    },
    pauses() {
      stop();
      return () => {
        due = now() + QUIET_MS;
        timer ??= begin();
      };
    },
    ends: stop,
  };
}

let current: ProgressLine | undefined;

/** That of this process's terminal, while a command runs that does not hold it; else none. */
export const progressLine = (): ProgressLine | undefined => current;

/** Until what it gives back is called. Ctrl-C ends the process where nobody else listens to it. */
export function beginProgressLine(text: string, cancelled: number): () => void {
  if (process.stderr.isTTY !== true) return () => {};
  const line = showProgressLine(process.stderr, text);
  const onInterrupt = () => {
    line.ends();
    if (process.listenerCount("SIGINT") <= 1) process.exit(cancelled);
  };
  process.on("SIGINT", onInterrupt);
  current = line;
  return () => {
    current = undefined;
    line.ends();
    process.off("SIGINT", onInterrupt);
  };
}
