// Lets a turn of Clew's own run alone in a session, and replies to its clients together.

export interface GatePlace {
  /** It stands in nobody's way, and nobody in its. */
  readonly isIn: boolean;
  /** Resolves when it is in. */
  readonly granted: Promise<void>;
  /** It is over, or will not be. */
  leave(): void;
}

export interface SessionGate {
  /** In order of arrival, by the canonical key of a session. */
  enter(key: string, how: "alone" | "together"): GatePlace;
  /** Whoever came now would be in at once. */
  isFree(key: string, how: "alone" | "together"): boolean;
}

interface Standing {
  how: "alone" | "together";
  isIn: boolean;
  grant(): void;
}

export function createSessionGate(): SessionGate {
  const lines = new Map<string, Standing[]>();
  const isFree: SessionGate["isFree"] = (key, how) =>
    (lines.get(key) ?? []).every((one) => how === "together" && one.how === "together");
  const letIn = (line: readonly Standing[]) => {
    for (const [index, one] of line.entries()) {
      if (one.how === "alone" && index > 0) return;
      if (!one.isIn) {
        one.isIn = true;
        one.grant();
      }
      if (one.how === "alone") return;
    }
  };
  return {
    isFree,
    enter(key, how) {
      const { promise: granted, resolve: grant } = Promise.withResolvers<void>();
      const one: Standing = { how, isIn: false, grant };
      const line = lines.get(key) ?? [];
      lines.set(key, line);
      line.push(one);
      letIn(line);
      return {
        granted,
        get isIn() {
          return one.isIn;
        },
        leave() {
          const at = line.indexOf(one);
          if (at < 0) return;
          line.splice(at, 1);
          if (line.length === 0) lines.delete(key);
          else letIn(line);
        },
      };
    },
  };
}
