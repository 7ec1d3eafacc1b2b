// Reaches what OpenClaw lends to plugins, where it is the host.

/** Those of its modules that the SDK uses, as far as they are there. */
type Lent = Record<string, unknown>;

const CORE = "openclaw/plugin-sdk/core";
const TRANSCRIPTS = "openclaw/plugin-sdk/session-transcript-runtime";

let core: Lent | undefined;

/** Its core module; undefined = another host. What was loaded once is at hand from then on. */
export async function loadOpenClaw(): Promise<Lent | undefined> {
  core ??= await lent(CORE);
  return core;
}

/** The core module for those who cannot wait; undefined = not loaded, or another host. */
export const loadedOpenClaw = (): Lent | undefined => core;

/** A function of its core module; undefined = another host, or one that lacks it. */
export function functionOf(module: Lent | undefined, name: string) {
  const found = module?.[name];
  return typeof found === "function" ? (found as (params: unknown) => unknown) : undefined;
}

/** The module that reads sessions; undefined = this host has none. */
export const loadTranscripts = (): Promise<Lent | undefined> => lent(TRANSCRIPTS);

/** By a name that bundlers leave alone: it stands for what the host has, not for a package. */
async function lent(name: string): Promise<Lent | undefined> {
  try {
    return (await import(/* @vite-ignore */ name)) as Lent;
  } catch {
    return undefined;
  }
}
