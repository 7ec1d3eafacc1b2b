// Knows which sessions editors hold, where these work, and by which rules.
import type { LogPort } from "@clew/engine-core";
import type { EditorClient, EditorPlace } from "../tools/editor-client.ts";
import { createEditorRecords, type EditorRecord, isEditors } from "./editor-records.ts";
import { type Mode, type ModeId, planModes, planRules, type SaidOfTools } from "./modes.ts";

/** An editor that has a session open. */
export interface Holder {
  client: EditorClient;
  /** Its folder. */
  cwd: string;
}

export interface Editors {
  /** By canonical key; undefined: no editor began it, and none holds it. */
  placeOf(key: string): EditorPlace | undefined;
  /** What is kept of it, or known while one holds it. */
  recordOf(key: string): EditorRecord | undefined;
  modeOf(key: string): ModeId;
  /** Those that a session may have. */
  readonly modes: readonly Mode[];
  /** Kept, where an editor began the session; else as long as one holds it. */
  change(key: string, change: Partial<EditorRecord>): Promise<void>;
  /** The other session works where this one does, where an editor could have begun it. */
  copy(from: string, to: string): Promise<void>;
  /** The session is this editor's until the function that it gives is called. */
  hold(key: string, holder: Holder): () => void;
  remove(key: string): Promise<void>;
  /** What another process wrote of it is read again. */
  forget(key: string): void;
}

export interface EditorsOptions {
  home: string;
  log: LogPort;
  /** What the settings say of tools. */
  said: SaidOfTools;
}

export function createEditors({ home, log, said }: EditorsOptions): Editors {
  const records = createEditorRecords({ home, log });
  /** The newest one last. */
  const holders = new Map<string, Holder[]>();
  /** Of sessions that no editor began. */
  const borrowed = new Map<string, EditorRecord>();
  const holderOf = (key: string) => holders.get(key)?.at(-1);
  const recordOf = (key: string) => records.of(key) ?? borrowed.get(key);
  const { modes, first } = planModes(said);
  const modeOf = (key: string): ModeId => {
    const chosen = recordOf(key)?.mode;
    return modes.some(({ id }) => id === chosen) ? chosen! : first;
  };
  return {
    ...{ recordOf, modeOf, modes },
    placeOf(key) {
      const record = recordOf(key);
      if (record === undefined) return undefined;
      const holder = holderOf(key);
      return {
        workspace: holder?.cwd ?? record.cwd,
        rules: planRules(modeOf(key), said),
        engine: record.engine ?? null,
        client: holder?.client ?? null,
      };
    },
    async change(key, change) {
      const record = recordOf(key);
      const changed = { ...record, ...change } as EditorRecord;
      if (isEditors(key)) await records.keep(key, changed);
      else borrowed.set(key, changed);
    },
    async copy(from, to) {
      const record = recordOf(from);
      if (record !== undefined && isEditors(to)) await records.keep(to, record);
    },
    hold(key, holder) {
      const all = holders.get(key) ?? [];
      all.push(holder);
      holders.set(key, all);
      return () => {
        const left = (holders.get(key) ?? []).filter((each) => each !== holder);
        if (left.length > 0) return void holders.set(key, left);
        holders.delete(key);
        borrowed.delete(key);
      };
    },
    async remove(key) {
      borrowed.delete(key);
      await records.remove(key);
    },
    forget: (key) => {
      if (!holders.has(key)) records.forget(key);
    },
  };
}
