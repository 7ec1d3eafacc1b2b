// Decides what becomes of a command when what it prints goes nowhere any more.
import { storageAdvice, storageReason } from "../storage-reason.ts";

/** As `EXIT.unread` and `EXIT.failed`, which cost more to load than a command that only prints. */
const UNREAD = 141;
const FAILED = 1;

/** What a process prints on. */
export type Stream = "stdout" | "stderr";

let unwritten: true | undefined;
let goOn: ((stream: Stream) => void) | undefined;
const lost = new Set<Stream>();

/**
 * To be called once. `clew sessions show main | head` ends when head does, without a complaint;
 * nobody who does not read complaints needs any.
 */
export function watchReaders(): void {
  process.stdout.on("error", (error) => {
    const isUnread = (error as NodeJS.ErrnoException).code === "EPIPE";
    if (!isUnread) unwritten ??= tellUnwritten(error);
    if (goOn !== undefined) return lose("stdout");
    process.exit(isUnread ? UNREAD : FAILED);
  });
  process.stderr.on("error", () => lose("stderr"));
}

/** A full disk, say, is nobody who does not read. */
function tellUnwritten(error: Error): true {
  process.stderr.write(
    `clew: What is printed cannot be written: ${storageReason(error)}; ${storageAdvice(error)} and try again. [STORAGE_FAILED]\n`,
  );
  return true;
}

/**
 * What was begun is done all the same; aborted once the standard output goes nowhere, with the exit
 * code as its reason.
 */
export function untilUnread(): AbortSignal {
  const unread = new AbortController();
  outliveReaders((stream) => {
    if (stream === "stdout") unread.abort(unwritten ? FAILED : UNREAD);
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
