// Decides what becomes of a command when nobody reads what it prints any more.

/** What a process prints on. */
export type Stream = "standard output" | "standard error";

let goOn: ((stream: Stream) => void) | undefined;
const lost = new Set<Stream>();

/**
 * To be called once. `clew sessions show main | head` ends when head does, without a complaint;
 * nobody who does not read complaints needs any.
 */
export function watchReaders(): void {
  process.stdout.on("error", (error) => {
    if (goOn !== undefined) return lose("standard output");
    if ((error as NodeJS.ErrnoException).code === "EPIPE") process.exit(0);
    throw error;
  });
  process.stderr.on("error", () => lose("standard error"));
}

/** From now on this process goes on without readers; `tell` hears of each that is lost, once. */
export function outliveReaders(tell: (stream: Stream) => void): void {
  goOn = tell;
}

function lose(stream: Stream): void {
  if (lost.has(stream)) return;
  lost.add(stream);
  goOn?.(stream);
}
