// Lets so many turns run at a time, and sessions take turns where more would.

/** One place in the line; whoever has it gives it up once. */
export interface TurnPlace {
  /** Resolves when the turn may run. */
  readonly granted: Promise<void>;
  /** The turn is over, or will not be. */
  leave(): void;
}

export interface TurnLine {
  /**
   * In order of arrival. Whoever stands in it with one turn of a session at a time has sessions
   * take turns: none comes twice before another that was there.
   */
  enter(): TurnPlace;
  /** A turn more could run now. */
  hasRoom(): boolean;
  /** Turns that may run. */
  running(): number;
  /** How long turns took lately, ms; undefined = none has ended yet. */
  usualMs(): number | undefined;
}

/** What the newest turn counts for. */
const SHARE = 0.2;

export function createTurnLine(most: () => number, now = () => performance.now()): TurnLine {
  const standing = new Set<() => void>();
  let running = 0;
  let usual: number | undefined;
  const letIn = () => {
    for (const grant of standing) {
      if (running >= most()) return;
      standing.delete(grant);
      running++;
      grant();
    }
  };
  return {
    hasRoom: () => standing.size === 0 && running < most(),
    running: () => running,
    usualMs: () => usual,
    enter() {
      const { promise: granted, resolve } = Promise.withResolvers<void>();
      let began: number | undefined;
      let isOver = false;
      const grant = () => {
        began = now();
        resolve();
      };
      standing.add(grant);
      letIn();
      return {
        granted,
        leave() {
          if (isOver) return;
          isOver = true;
          standing.delete(grant);
          if (began === undefined) return;
          const took = now() - began;
          usual = usual === undefined ? took : usual + SHARE * (took - usual);
          running--;
          letIn();
        },
      };
    },
  };
}
