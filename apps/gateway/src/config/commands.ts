// Reads, writes or removes one setting for `clew config get`, `set` and `unset`.
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { secretsInAddress } from "@clew/plugin-sdk/host";
import JSON5 from "json5";
import { storageFailed } from "../storage-error.ts";
import { shellWord } from "../text/shell-word.ts";
import { changingConfig } from "./change.ts";
import { describeWaterConflicts, whyIdle } from "./compaction.ts";
import { checkConfigText, type LoadedConfig, loadConfig, readConfigText } from "./load.ts";
import { inBrackets, parseSettingPath, valueAt } from "./path.ts";
import { type Config, ConfigSchema } from "./schema.ts";
import { isSecretName } from "./secret-names.ts";
import { describeUnknownKey, findUnknownKeys, type UnknownKey } from "./unknown-keys.ts";

export interface Setting {
  value: unknown;
  /** False: the file does not say it; the value is the default. */
  isSet: boolean;
}

/**
 * One setting with its default applied, or everything for a blank name. Secrets are
 * masked. Throws CONFIG_INVALID.
 */
export async function getSetting(file: string, name: string): Promise<Setting> {
  const loaded = await loadConfig(file);
  if (name === "") return { value: maskSecrets(loaded.config), isSet: loaded.exists };
  const path = settingPath(name);
  const configured = valueAt(loaded.raw, path);
  const value = valueAt(loaded.config, path) ?? configured;
  if (value === undefined)
    throw new ContextEngineError(
      "CONFIG_INVALID",
      `${name} is not set and has no default; ${hint(loaded, name)}.`,
    );
  const isSecret = isSecretName(String(path.at(-1)));
  return {
    value: isSecret ? maskText(value) : maskSecrets(value),
    isSet: configured !== undefined,
  };
}

/** What others who know more of a setting say to a change; null: nothing. */
export type SettingJudge = (change: {
  path: readonly (string | number)[];
  before: Config;
  after: Config;
}) => { isRefused: boolean; text: string } | null;

/**
 * Writes one setting; comments and formatting stay. Throws CONFIG_INVALID and writes nothing when
 * the result would not be valid, or nobody knows the setting; with `force` that is only told.
 */
export async function setSetting(
  file: string,
  name: string,
  text: string,
  { judge = () => null, force = false }: { judge?: SettingJudge | undefined; force?: boolean } = {},
): Promise<{ value: unknown; warnings: string[]; config: Config }> {
  const path = settingPath(name);
  return changingConfig(file, () => setOne({ file, name, path, text, judge, force }));
}

async function setOne({
  file,
  name,
  path,
  text,
  judge,
  force,
}: {
  file: string;
  name: string;
  path: (string | number)[];
  text: string;
  judge: SettingJudge;
  force: boolean;
}): Promise<{ value: unknown; warnings: string[]; config: Config }> {
  const before = (await readConfigText(file)) ?? "";
  const { config: was } = checkConfigText(before, file);
  const told: string[] = [];
  const check = (edited: string) => {
    const refused = `${notChanged(name, file)}, which would then be wrong:`;
    const { config: after } = checkConfigText(edited, file, refused);
    const verdict = judge({ path, before: was, after });
    if (verdict?.isRefused)
      throw new ContextEngineError("CONFIG_INVALID", `${notChanged(name, file)}: ${verdict.text}.`);
    if (verdict !== null) told.push(verdict.text);
  };
  const { edited, value } = await firstValid(
    { before, path, values: candidates(text), check },
    file,
    name,
  );
  const { raw, config } = checkConfigText(edited, file);
  refuseNewConflict(config, was, `${notChanged(name, file)}:`);
  // What is not known of it may be the section it is in.
  const unknown = findUnknownKeys(ConfigSchema, raw).filter(({ keys }) =>
    keys.every((key, index) => key === String(path[index])),
  );
  if (unknown[0] !== undefined && !force)
    throw new ContextEngineError(
      "CONFIG_INVALID",
      `${notChanged(name, file)}: ${refusedKey(unknown[0])} "--force" stores it all the same.`,
    );
  await writeConfigText(file, edited);
  const idle = whyIdle(path.join("."));
  return {
    value,
    config,
    warnings: [
      ...told,
      ...unknown.map(describeUnknownKey),
      ...(idle === undefined ? [] : [`${name} changes nothing: ${idle}.`]),
    ],
  };
}

/**
 * Removes one setting; false when the file does not say it. Throws CONFIG_INVALID and writes
 * nothing when the result would not be valid.
 */
export async function unsetSetting(file: string, name: string): Promise<boolean> {
  const path = settingPath(name);
  const isSet = ({ raw }: { raw: unknown }) => valueAt(raw, path) !== undefined;
  // What is not there is looked for without a lock, and so where nothing may be written.
  if (!isSet(checkConfigText((await readConfigText(file)) ?? "", file))) return false;
  return changingConfig(file, () => unsetOne({ file, name, path }));
}

async function unsetOne({
  file,
  name,
  path,
}: {
  file: string;
  name: string;
  path: (string | number)[];
}): Promise<boolean> {
  const before = (await readConfigText(file)) ?? "";
  const { raw, config } = checkConfigText(before, file);
  if (valueAt(raw, path) === undefined) return false;
  const { removeAt } = await import("./edit.ts");
  const edited = removeAt(before, path);
  const now = checkConfigText(
    edited,
    file,
    `${notChanged(name, file)}, which would then be wrong:`,
  );
  refuseNewConflict(now.config, config, `${notChanged(name, file)}:`);
  await writeConfigText(file, edited);
  return true;
}

const refusedKey = ({ path, nearest }: UnknownKey): string =>
  `Clew has no setting ${path}${nearest === null ? "." : `; did you mean ${nearest}?`}`;

const notChanged = (name: string, file: string) => `${name} was not changed in ${file}`;

/** What contradicted itself before may be mended in any order. */
function refuseNewConflict(now: Config, before: Config, refused: string): void {
  const known = new Set(describeWaterConflicts(before.agents.defaults.compaction));
  const [fresh] = describeWaterConflicts(now.agents.defaults.compaction).filter(
    (conflict) => !known.has(conflict),
  );
  if (fresh !== undefined)
    throw new ContextEngineError("CONFIG_INVALID", `${refused} ${fresh}; set the other one first.`);
}

/** All or nothing. Whoever read the file does both in `changingConfig`. Throws STORAGE_FAILED. */
export async function writeConfigText(file: string, text: string): Promise<void> {
  const { default: writeFileAtomic } = await import("write-file-atomic");
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFileAtomic(file, text, { mode: 0o600 });
  } catch (error) {
    throw storageFailed(`The configuration ${file} could not be written`, error);
  }
}

/** The parser that keeps comments is loaded only when something is edited. */
async function firstValid(
  {
    before,
    path,
    values,
    check,
  }: {
    before: string;
    path: (string | number)[];
    values: unknown[];
    /** Throws CONFIG_INVALID. */
    check: (edited: string) => void;
  },
  file: string,
  name: string,
) {
  const { setInText } = await import("./edit.ts");
  let failure: unknown;
  for (const value of values) {
    try {
      const edited = setInText(before, path, value);
      check(edited);
      return { edited, value };
    } catch (error) {
      failure ??= error;
    }
  }
  if (ContextEngineError.is(failure)) throw failure;
  throw new ContextEngineError(
    "CONFIG_INVALID",
    `${name} cannot be set in ${file}: ${(failure as Error).message}.`,
    { cause: failure },
  );
}

/** What the person may have meant: a JSON5 value, or the text itself. */
function candidates(text: string): unknown[] {
  try {
    const value: unknown = JSON5.parse(text);
    return value === text ? [text] : [value, text];
  } catch {
    return [text];
  }
}

function settingPath(name: string): (string | number)[] {
  const path = parseSettingPath(name);
  const meant = inBrackets(name);
  if (meant !== null)
    throw new ContextEngineError(
      "CONFIG_INVALID",
      `"${name}" would be parted at the dots of a model's name; write it in brackets, and all of it in single quotes for the shell: '${meant}'.`,
    );
  if (path !== null) return path;
  throw new ContextEngineError(
    "CONFIG_INVALID",
    `"${name}" is not a setting; write one like agents.defaults.model.primary.`,
  );
}

function hint(loaded: LoadedConfig, name: string): string {
  const path = parseSettingPath(name) ?? [];
  const asked = path.reduceRight<unknown>((inner, part) => ({ [part]: inner }), "");
  const unknown = findUnknownKeys(ConfigSchema, asked)[0];
  return unknown === undefined
    ? `set it with "clew config set ${shellWord(name)} VALUE"`
    : `${describeUnknownKey(unknown).replace(/\.$/, "")} (${loaded.file})`;
}

/** As it may be shown: what is secret by its name or in an address is hidden. */
export function maskSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(maskSecrets);
  if (typeof value === "string") return maskAddress(value);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [
      key,
      isSecretName(key) ? maskText(child) : maskSecrets(child),
    ]),
  );
}

/** Whoever is let in by an address is named in it. */
const maskAddress = (text: string): string =>
  secretsInAddress(text)
    .filter((secret) => !IS_REFERENCE.test(secret))
    .reduce((hidden, secret) => hidden.replaceAll(secret, "(hidden)"), text);

/** References to the environment are no secret. */
const IS_REFERENCE = /^\$\{\w+\}$/;

function maskText(value: unknown): unknown {
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, maskText(child)]));
  }
  return typeof value === "string" && IS_REFERENCE.test(value) ? value : "(hidden)";
}
