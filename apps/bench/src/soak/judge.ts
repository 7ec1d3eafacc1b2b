// Compares what clients were told with what the sessions hold.
import type { SentMessage } from "./restless-client.ts";

export interface Judgement {
  messages: number;
  /** Taken, in no session, and not kept to be said. */
  lost: string[];
  /** In a session more than once. */
  doubled: string[];
  /** Taken back, and said all the same. */
  saidAnyway: string[];
  /** At the door: out of order, or where it does not belong, in words. */
  misplaced: string[];
  /**
   * In a session that its client names at the door: there twice, as a gateway was killed that had
   * stored the whole reply and not told it, and the next one takes it for heard. Not wrong.
   */
  saidTwice: string[];
  /** What happened to each of these, a line for each step. */
  trails: string[];
}

/** Nobody took it back, or too late. */
export const isWanted = ({ takenBack }: SentMessage): boolean =>
  takenBack === "no" || takenBack === "tooLate";

/** Pure. `stored`: the names of people's messages in all sessions, as often as each is there. */
export function judge(sent: readonly SentMessage[], stored: readonly string[]): Judgement {
  const counts = new Map<string, number>();
  for (const key of stored) counts.set(key, (counts.get(key) ?? 0) + 1);
  const keysOf = (isBad: (message: SentMessage, count: number) => boolean) =>
    sent.filter((one) => isBad(one, counts.get(one.key) ?? 0)).map(({ key }) => key);
  const lost = keysOf((message, count) => message.isTaken && isWanted(message) && count === 0);
  const doubled = keysOf((_, count) => count > 1);
  const saidAnyway = keysOf(({ takenBack }, count) => takenBack === "yes" && count > 0);
  const wrong = new Set([...lost, ...doubled, ...saidAnyway]);
  const trails = sent
    .filter(({ key }) => wrong.has(key))
    .flatMap(({ key, trail }) => trail.map((step) => `${key} ${step}`));
  return { messages: sent.length, lost, doubled, saidAnyway, misplaced: [], saidTwice: [], trails };
}

/** Pure. The names of people's messages in a transcript, as often as each is there. */
export function storedKeys(transcript: string): string[] {
  const entries = transcript.split("\n").flatMap((line) => {
    try {
      return [JSON.parse(line) as { message?: { role?: string; idempotencyKey?: string } }];
    } catch {
      return [];
    }
  });
  return entries.flatMap(({ message }) =>
    message?.role === "user" ? [message.idempotencyKey ?? ""] : [],
  );
}

export interface Slope {
  perMinute: number;
  /** It is as likely as 95 in 100 that it differs by no more. NaN: too few samples. */
  within: number;
  /**
   * What was measured grows, and goes on growing: the least it may be is more than nothing, in the
   * later half too. What only has to warm up grows ever more slowly.
   */
  grows: boolean;
}

/** What one moment has in common with the next, as garbage does, says nothing of growth. */
const BLOCKS = 12;
/** Of Student's distribution with ten degrees of freedom, for 95 of 100. */
const T_95 = 2.228;

/** Of one moment: seconds, and what was measured. */
type Measured = readonly [number, number];

/** Pure. How it grows, by the means of twelve equal parts. */
export function slopeOf(samples: readonly Measured[]): Slope {
  const slope = slopeOfParts(samples);
  const later = slopeOfParts(samples.slice(Math.ceil(samples.length / 2)));
  return { ...slope, grows: isBeyond(slope) && isBeyond(later) };
}

const isBeyond = ({ perMinute, within }: Omit<Slope, "grows">) => perMinute > within;

function slopeOfParts(samples: readonly Measured[]): Omit<Slope, "grows"> {
  const size = Math.floor(samples.length / BLOCKS);
  if (size === 0) return { perMinute: slopePerMinute(samples), within: Number.NaN };
  const mean = (values: readonly number[]) => values.reduce((sum, one) => sum + one, 0) / size;
  const blocks = Array.from({ length: BLOCKS }, (_, at) => {
    const block = samples.slice(at * size, (at + 1) * size);
    return [
      mean(block.map(([seconds]) => seconds)),
      mean(block.map(([, value]) => value)),
    ] as const;
  });
  const perMinute = slopePerMinute(blocks);
  const middle = (pick: 0 | 1) => blocks.reduce((sum, block) => sum + block[pick], 0) / BLOCKS;
  const [time, value] = [middle(0), middle(1)];
  const left = blocks.map(([at, is]) => is - value - (perMinute / 60) * (at - time));
  const spread = blocks.reduce((sum, [at]) => sum + (at - time) ** 2, 0);
  const error = Math.sqrt(left.reduce((sum, one) => sum + one ** 2, 0) / (BLOCKS - 2) / spread);
  return { perMinute, within: 60 * T_95 * error };
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
