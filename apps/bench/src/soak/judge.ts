// Compares what clients were told with what the sessions hold.
import type { SentMessage } from "./restless-client.ts";

export interface Judgement {
  messages: number;
  /** Taken, and in no session. */
  lost: string[];
  /** In a session more than once. */
  doubled: string[];
  /** Taken back, and said all the same. */
  saidAnyway: string[];
}

/** Pure. `stored`: the names of people's messages in all sessions, as often as each is there. */
export function judge(sent: readonly SentMessage[], stored: readonly string[]): Judgement {
  const counts = new Map<string, number>();
  for (const key of stored) counts.set(key, (counts.get(key) ?? 0) + 1);
  const keysOf = (isBad: (message: SentMessage, count: number) => boolean) =>
    sent.filter((one) => isBad(one, counts.get(one.key) ?? 0)).map(({ key }) => key);
  const isWanted = ({ takenBack }: SentMessage) => takenBack === "no" || takenBack === "tooLate";
  return {
    messages: sent.length,
    lost: keysOf((message, count) => message.isTaken && isWanted(message) && count === 0),
    doubled: keysOf((_, count) => count > 1),
    saidAnyway: keysOf(({ takenBack }, count) => takenBack === "yes" && count > 0),
  };
}

/** Pure. By how much it grows per minute, from `[seconds, value]`; least squares. */
export function slopePerMinute(samples: readonly (readonly [number, number])[]): number {
  const mean = (pick: 0 | 1) =>
    samples.reduce((sum, sample) => sum + sample[pick], 0) / samples.length;
  const [time, value] = [mean(0), mean(1)];
  let [above, below] = [0, 0];
  for (const [at, is] of samples) {
    above += (at - time) * (is - value);
    below += (at - time) ** 2;
  }
  return below === 0 ? 0 : (60 * above) / below;
}
