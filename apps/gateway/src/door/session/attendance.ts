// Keeps a turn going while somebody waits for its answer, or may be back at once.
import type { Answering } from "./answering.ts";

export interface Attendance {
  /** Whoever waited has left, and may be back. */
  readonly isLeft: boolean;
  /** `comesBack`: a client that asks again by itself. */
  add(answering: Answering, gone: AbortSignal, comesBack: boolean): void;
  /** Resolves when somebody is there, or nobody is expected any more. */
  attended(signal: AbortSignal): Promise<void>;
  stop(): void;
}

export interface AttendanceOptions {
  /** Nobody is there, and nobody will be. */
  abort(why: string): void;
  /** Somebody left before the answer was whole, or came to hear it. */
  note(isLeft: boolean): void;
  /** How long a client that asks again is waited for, ms. */
  backMs: number;
}

export function createAttendance({ abort, note, backMs }: AttendanceOptions): Attendance {
  const here = new Set<Answering>();
  let away: PromiseWithResolvers<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  const isBack = () => {
    clearTimeout(timer);
    away?.resolve();
    away = undefined;
  };
  const leave = (answering: Answering, comesBack: boolean) => {
    here.delete(answering);
    if (here.size > 0) return;
    note(true);
    if (answering.hasEnded) return;
    if (!comesBack) return abort("The client went away.");
    away = Promise.withResolvers();
    timer = setTimeout(() => abort("The client went away."), backMs).unref();
  };
  return {
    get isLeft() {
      return away !== undefined;
    },
    add(answering, gone, comesBack) {
      here.add(answering);
      note(false);
      isBack();
      const left = () => leave(answering, comesBack);
      if (gone.aborted) return left();
      gone.addEventListener("abort", left, { once: true });
      void answering.ended.then(() => {
        gone.removeEventListener("abort", left);
        here.delete(answering);
      });
    },
    async attended(signal) {
      if (away === undefined || signal.aborted) return;
      const aborted = Promise.withResolvers<void>();
      const stop = () => aborted.resolve();
      signal.addEventListener("abort", stop, { once: true });
      await Promise.race([away.promise, aborted.promise]);
      signal.removeEventListener("abort", stop);
    },
    stop: isBack,
  };
}
