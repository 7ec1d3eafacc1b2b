// What is wrong with what an engine has kept of a session.
import type { AgentMessage } from "../../contract/message.ts";
import { messageId } from "../../transcript/message-id.ts";
import { textOf } from "../../transcript/text.ts";
import { contentFault, hasWordsOf, LEAST_WORDS, type Strictness } from "./content.ts";
import { type Dropped, lostField } from "./fields.ts";
import { inHeartbeat, isPlain, named } from "./judge-view.ts";
import { placesOf } from "./place.ts";

/** What an engine was told of a session. */
export interface Told {
  /** Everything that was said in the session, on any branch, in the order of storing. */
  said: readonly AgentMessage[];
  versionsOf(message: AgentMessage): readonly AgentMessage[];
  /** Indexes in `said` of what a call brought that returned. */
  owed: ReadonlySet<number>;
  strange(text: string): string | undefined;
  /** Whether everything must be there. */
  isWhole: boolean;
  /** What may be cut. */
  strictness: Strictness;
  /** Fields that are not kept. Absent: not known. */
  loses?: Dropped;
}

/** Undefined = nothing is; else the end of a sentence that begins with "its record". */
export function recordFault(
  record: readonly AgentMessage[],
  { said, versionsOf, owed, strange, isWhole, strictness, loses }: Told,
): string | undefined {
  const stranger = strange(JSON.stringify(record));
  if (stranger !== undefined) return `holds ${stranger}`;
  const places = placesOf(record, said);
  const seen = new Set<number>();
  for (const [at, place] of places.entries()) {
    if (place === undefined) {
      const copied = copyAmong(said, record[at]!);
      if (copied !== undefined) return `holds ${named(copied)} twice`;
      continue;
    }
    if (seen.has(place)) return `holds ${named(said[place]!)} twice`;
    seen.add(place);
    const fault = contentFault(record[at]!, versionsOf(said[place]!), strictness);
    if (fault !== undefined) return `holds ${named(said[place]!)} otherwise: ${fault}`;
    const lost = lostField(record[at]!, versionsOf(said[place]!), loses);
    if (lost !== undefined) return `holds ${named(said[place]!)} without its ${lost}`;
  }
  if (!isWhole) return undefined;
  const lost = [...owed].find(
    (index) => !seen.has(index) && isPlain(said[index]!) && !inHeartbeat(said, index),
  );
  if (lost !== undefined) return `lacks ${named(said[lost]!)}`;
  const owedPlaces = places.filter(
    (place) => place !== undefined && owed.has(place) && isPlain(said[place]!),
  ) as number[];
  const late = owedPlaces.findIndex((place, index) => index > 0 && place < owedPlaces[index - 1]!);
  return late < 0
    ? undefined
    : `holds ${named(said[owedPlaces[late]!]!)} behind what came after it`;
}

/** What a message without an id says once more, in words that were said only once. */
const copyAmong = (said: readonly AgentMessage[], message: AgentMessage) =>
  messageId(message) === undefined &&
  isPlain(message) &&
  textOf(message).trim().length >= LEAST_WORDS
    ? said.find((one) => hasWordsOf(message, one))
    : undefined;
