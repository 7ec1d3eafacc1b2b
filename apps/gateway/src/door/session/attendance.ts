// Keeps a turn going while somebody waits for its answer, or may be back at once.
import type { Answering } from "./answering.ts";

/** Whoever is told an answer. */
type Hearer = Pick<Answering, "ended" | "hasEnded">;

export interface Attendance {
  /** Whoever waited has left, and may be back. */
  readonly isLeft: boolean;
  /** `lost`: of its outlet. `comesBack`: a client that asks again by itself. */
  add(answering: Hearer, lost: AbortSignal, comesBack: boolean): void;
  /** Another answer of the turn begins: who heard the one before may still miss this one. */
  goOn(): void;
  /** Resolves when somebody is there, or nobody is expected any more. */
  attended(signal: AbortSignal): Promise<void>;
  stop(): void;
}

export interface AttendanceOptions {
  /** Nobody is there, and nobody will be. */
  abort(why: string): void;
  /** Whoever asked left before they had all of it, or somebody hears it "again", or for once. */
  note(fate: "left" | "again" | "heard"): void;
  /** How long a client that asks again is waited for, ms. */
  backMs: number;
}

export function createAttendance({ abort, note, backMs }: AttendanceOptions): Attendance {
  const here = new Set<Hearer>();
  /** To whom it was written to the end, and who has it as far as is known. */
  const heard = new Set<Hearer>();
  let wasLeft = false;
  let away: PromiseWithResolvers<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  const isBack = () => {
    clearTimeout(timer);
    away?.resolve();
    away = undefined;
  };
  const leave = (answering: Hearer, comesBack: boolean) => {
    here.delete(answering);
    heard.delete(answering);
    if (here.size > 0 || heard.size > 0) return;
    wasLeft = true;
    note("left");
    if (answering.hasEnded) return;
    if (!comesBack) return abort("The client went away.");
    away = Promise.withResolvers();
    timer = setTimeout(() => abort("The client went away."), backMs).unref();
  };
  return {
    get isLeft() {
      return away !== undefined;
    },
    add(answering, lost, comesBack) {
      here.add(answering);
      note(wasLeft ? "again" : "heard");
      isBack();
      const left = () => leave(answering, comesBack);
      if (lost.aborted) return left();
      lost.addEventListener("abort", left, { once: true });
      void answering.ended.then(() => {
        if (here.delete(answering)) heard.add(answering);
      });
    },
    goOn: () => heard.clear(),
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
