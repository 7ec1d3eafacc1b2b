// Decides which messages a search of files looks at.
import { historyOfFile, isOfFile } from "../files/versions.ts";
import { patiently } from "../patiently.ts";
import { messagesWithFile } from "../store/files.ts";
import type { Scope } from "../store/recall.ts";
import type { StoredMessage } from "../store/rows.ts";
import type { Store } from "../store/store.ts";
import { nameShown } from "./quoted.ts";

/** Which messages are looked at, or which file there is none of. */
export type SearchedFiles =
  | { readonly kind: "known"; readonly isIn: (message: StoredMessage) => boolean }
  | { readonly kind: "unknown"; readonly why: string };

/** `fileIds` are ids of long texts, or paths; without any, `scope` says whether files are meant. */
export async function searchedFiles(
  store: Store,
  asked: { readonly scope?: string | undefined; readonly fileIds?: readonly string[] | undefined },
  {
    scope,
    workspace,
    signal,
  }: { scope: Scope; workspace?: string | undefined; signal?: AbortSignal | undefined },
): Promise<SearchedFiles> {
  const { fileIds } = asked;
  if (fileIds === undefined) {
    if (asked.scope !== "files") return { kind: "known", isIn: () => true };
    return { kind: "known", isIn: (message) => message.hasFiles || isOfFile(store, message) };
  }
  const holders = new Set<number>();
  for (const id of fileIds) {
    const found = await patiently(() => messagesWithFile(store, scope, id), signal);
    if (found.length === 0) {
      const { sightings } = await historyOfFile(store, { path: id, scope, workspace, signal });
      found.push(...sightings.filter(({ text }) => text !== null).map(({ seq }) => seq));
    }
    if (found.length === 0)
      return {
        kind: "unknown",
        why: `There is no file ${nameShown(id.slice(0, 100))} here; lcm_describe of a path names the ids of its texts.`,
      };
    for (const seq of found) holders.add(seq);
  }
  return { kind: "known", isIn: ({ seq }) => holders.has(seq) };
}
