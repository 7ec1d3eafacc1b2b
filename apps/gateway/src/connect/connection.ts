// What a client has to be told to reach a gateway.

export interface Connection {
  /** Of the gateway, without a path. */
  base: string;
  /** What the gateway wants to be shown. Null: nothing. */
  token: string | null;
  /** True: the gateway signs in to the model server, so that the client needs no key of its own. */
  signsIn: boolean;
  /** The model to name. Null: what the client names by itself. */
  model: string | null;
}

/** What clients are told that a model holds: when it is full is the gateway's affair. */
export const BELIEVED_WINDOW = 1_000_000;
/** Longer replies are rare, and every server takes it. */
export const BELIEVED_REPLY = 32_000;

/** The agent's own model, by whichever wire it is asked. */
export const OWN_MODEL = "clew";

/** Stands where a client insists on a key. */
export const NO_KEY = "clew";

/** What is sent as the client's key. */
export const keyOf = ({ token }: Connection): string => token ?? NO_KEY;

export type SettingsFormat = "json" | "toml" | "env" | "shell";

/** One setting of a file, which is put there or takes the place of what is there. */
export interface Setting {
  path: readonly string[];
  value: SettingValue;
}

export type SettingValue =
  | string
  | number
  | boolean
  | readonly SettingValue[]
  | { readonly [name: string]: SettingValue };

/** A file of a client, and what it has to say. */
export interface SettingsFile {
  /** The folder that its client keeps it in. */
  place: Place;
  /** Below it; of several the first that is there, else the first. */
  names: readonly [string, ...string[]];
  format: SettingsFormat;
  set: readonly Setting[];
}

/** A folder of a person, which a variable may say, or one in the home of Clew. */
export type Place = { variable: string | null; folder: string } | "home";

export interface ConnectClient {
  id: string;
  title: string;
  /** Its command. */
  bin: string;
  /** The wire it speaks to the gateway. */
  api: "openai-completions" | "openai-responses" | "anthropic-messages" | "google-generative-ai";
  /** The model it names where nobody says one. */
  model: string | null;
  files(connection: Connection): readonly SettingsFile[];
  /** What to type next. */
  start(connection: Connection, file: (index: number) => string): string;
  /** What cannot be set, or is good to know. */
  notes(connection: Connection): readonly string[];
}
