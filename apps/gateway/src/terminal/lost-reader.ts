// Decides what becomes of a command when nobody reads what it prints any more.

/** As `EXIT.unread`, which costs more to load than a command that only prints. */
const UNREAD = 141;

/** What a process prints on. */
export type Stream = "stdout" | "stderr";

let goOn: ((stream: Stream) => void) | undefined;
const lost = new Set<Stream>();

/**
 * To be called once. `clew sessions show main | head` ends when head does, without a complaint;
 * nobody who does not read complaints needs any.
 */
export function watchReaders(): void {
  process.stdout.on("error", (error) => {
    if (goOn !== undefined) return lose("stdout");
    if ((error as NodeJS.ErrnoException).code === "EPIPE") process.exit(UNREAD);
    throw error;
  });
  process.stderr.on("error", () => lose("stderr"));
}

/** What was begun is done all the same; aborted once nobody reads the standard output. */
export function untilUnread(): AbortSignal {
  const unread = new AbortController();
  outliveReaders((stream) => {
    if (stream === "stdout") unread.abort();
  });
  return unread.signal;
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
