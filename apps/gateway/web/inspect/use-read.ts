// Reads something for a component, and forgets the answer when another is asked for.
import { useEffect, useState } from "preact/hooks";

export interface Reading<Value> {
  /** Undefined: it is not there yet. */
  value: Value | undefined;
  problem: string | null;
}

/** `key` says what is read; null = nothing. */
export function useRead<Value>(key: string | null, read: () => Promise<Value>): Reading<Value> {
  const [{ of, ...reading }, set] = useState<Reading<Value> & { of: string | null }>({
    ...{ of: null, value: undefined, problem: null },
  });
  useEffect(() => {
    if (key === null) return;
    let isWanted = true;
    const show = (next: Reading<Value>) => {
      if (isWanted) set({ of: key, ...next });
    };
    read().then(
      (value) => show({ value, problem: null }),
      (error: unknown) =>
        show({ value: undefined, problem: error instanceof Error ? error.message : String(error) }),
    );
    return () => {
      isWanted = false;
    };
  }, [key]);
  return of === key ? reading : { value: undefined, problem: null };
}
