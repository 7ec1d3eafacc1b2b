// Decides what a client's file is without what was written into it.
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { valueAt } from "../config/path.ts";
import type { Setting, SettingsFormat, SettingValue } from "./connection.ts";
import { readSettings, removeSetting, restoreSetting, setSettings } from "./edit-settings.ts";

const ValueSchema: z.ZodType<SettingValue> = z.lazy(() =>
  z.union([
    z.string(),
    z.number(),
    z.boolean(),
    z.array(ValueSchema),
    z.record(z.string(), ValueSchema),
  ]),
);

const WrittenSettingSchema = z.object({
  path: z.array(z.string()).min(1),
  value: ValueSchema,
  /** What stood there before; null = nothing. */
  was: z.object({ value: z.unknown() }).nullable(),
  /** So many parts of the path were there before. */
  keep: z.number().int().min(0),
});

export const WrittenFileSchema = z.object({
  path: z.string().min(1),
  format: z.enum(["json", "toml", "env", "shell"]),
  /** Null: there was no file. */
  before: z.string().nullable(),
  after: z.string(),
  set: z.array(WrittenSettingSchema),
  /** Made for it, the innermost first. Absent: none, or an earlier version wrote it. */
  folders: z.array(z.string()).optional(),
});

/** A file of a client as it was, and as it was left. */
export type WrittenFile = z.infer<typeof WrittenFileSchema>;

/** Pure. What writing `settings` into a file comes to; `before` is what it is to go back to. */
export function planWrite(
  path: string,
  format: SettingsFormat,
  { before, settings }: { before: string | null; settings: readonly Setting[] },
): WrittenFile {
  const text = before ?? "";
  const known = readSettings(text, format);
  return {
    ...{ path, format, before, after: setSettings(text, format, settings) },
    set: settings.map(({ path: name, value }) => {
      const was = valueAt(known, name);
      const depth = name.findIndex(
        (_part, at) => valueAt(known, name.slice(0, at + 1)) === undefined,
      );
      return {
        ...{ path: [...name], value, keep: depth < 0 ? name.length : depth },
        was: was === undefined ? null : { value: was },
      };
    }),
  };
}

export interface UndonePlan {
  /** Null: there is to be no file. */
  text: string | null;
  /**
   * "restored": exactly as it was · "untouched": it is so already · "taken-out": only ours went.
   */
  kind: "restored" | "untouched" | "taken-out";
  /** Settings of ours that somebody changed since, and that stay. */
  changed: string[];
}

/** Pure. `current`: null = there is no file. Throws where its form is not the client's any more. */
export function planUndo(current: string | null, written: WrittenFile): UndonePlan {
  const { before, after, format, set } = written;
  if (current === before || current === null)
    return { text: current, kind: "untouched", changed: [] };
  if (current === after) return { text: before, kind: "restored", changed: [] };
  let text = current;
  const changed: string[] = [];
  for (const { path, value, was, keep } of set.toReversed()) {
    const now = valueAt(readSettings(text, format), path);
    if (now === undefined) continue;
    if (!isDeepStrictEqual(now, asRead(value, format))) changed.push(path.join("."));
    else if (was === null) text = removeSetting(text, format, { path, keep });
    else {
      const setting = { path, value: was.value as SettingValue };
      text = restoreSetting(text, format, { ...setting, before: before! });
    }
  }
  return { text, kind: "taken-out", changed };
}

/** Variables are texts. */
export const asRead = (value: SettingValue, format: SettingsFormat): SettingValue =>
  format === "env" || format === "shell" ? String(value) : value;
