// Puts into words what a migration carried, and what it did not.
import { counted } from "../describe-store.ts";
import type { SettingsPlan } from "./plan-settings.ts";

/** See `Migration`. */
interface Told {
  readonly conversations: number;
  readonly messages: number;
  readonly fromTranscripts: number;
  readonly added: number;
  readonly summaries: number;
  readonly forgotten: number;
  readonly withoutId: number;
  readonly rewritten: number;
  readonly missingFiles: readonly string[];
  readonly withoutKey: readonly string[];
  readonly left: readonly string[];
  readonly settings: SettingsPlan;
}

/** Things that are named one by one. */
const MOST_TOLD = 10;

export function describeMigration(
  told: Told,
  { from, dryRun = false }: { from: string; dryRun?: boolean | undefined },
): string {
  const { conversations, messages, fromTranscripts, summaries, withoutId, rewritten } = told;
  const { missingFiles, withoutKey, left, settings, forgotten } = told;
  const read = `${counted(messages, "message")} and ${plural(summaries, "summary", "summaries")} of ${counted(conversations, "conversation")} in ${from}`;
  return [
    dryRun
      ? `Would carry ${read}; nothing was written.`
      : `Carried ${read}: ${counted(told.added, "message")} stored that ${told.added === 1 ? "was" : "were"} not there before.`,
    ...(fromTranscripts > 0
      ? [`${counted(fromTranscripts, "message")} as their session files have them, whole.`]
      : []),
    ...(summaries > 0
      ? [
          "Summaries are quoted under their old ids: searches find them, lcm_describe shows them, no view does.",
        ]
      : []),
    ...(forgotten > 0
      ? [
          `${counted(forgotten, "message")} that ${forgotten === 1 ? "was forgotten here stays" : "were forgotten here stay"} forgotten.`,
        ]
      : []),
    ...(withoutId > 0
      ? [
          `${counted(withoutId, "message")} without the id of an entry: a session file that tells ${withoutId === 1 ? "it" : "them"} later stores ${withoutId === 1 ? "it" : "them"} again.`,
        ]
      : []),
    ...(rewritten > 0
      ? [`${counted(rewritten, "part")} of kinds that no message has became texts.`]
      : []),
    ...(missingFiles.length > 0
      ? [
          `${counted(missingFiles.length, "file")} not there, changed since or larger than 64 MB; references stand in the messages: ${some(missingFiles)}.`,
        ]
      : []),
    ...(withoutKey.length > 0
      ? [
          `${counted(withoutKey.length, "session")} had no key, by which a session goes on: ${some(withoutKey)}. What ${withoutKey.length === 1 ? "it" : "they"} said is found where tools are asked for allConversations.`,
        ]
      : []),
    ...(left.length > 0 ? ["Not carried:", ...left.map((each) => `  ${each}.`)] : []),
    ...Object.entries(settings.carried).map(
      ([key, value]) =>
        `Setting ${key}: clew config set plugins.entries.lossless.config.${key} '${JSON.stringify(value).replaceAll("'", "'\\''")}'`,
    ),
    ...settings.dropped.map(({ key, why }) => `Setting ${key} has no counterpart: ${why}.`),
  ].join("\n");
}

const plural = (number: number, one: string, many: string) =>
  `${number.toLocaleString("en-US")} ${number === 1 ? one : many}`;

const some = (names: readonly string[]) =>
  `${names.slice(0, MOST_TOLD).join(", ")}${names.length > MOST_TOLD ? ", …" : ""}`;
