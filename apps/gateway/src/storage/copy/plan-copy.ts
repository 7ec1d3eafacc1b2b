// Decides from what was typed where sessions are copied from, and where to.
import { resolve } from "node:path";
import { secretsInAddress } from "@clew/plugin-sdk/host";

export type CopyPlace =
  | { kind: "files"; home: string }
  /** Undefined: that of the settings. */
  | { kind: "postgres"; url: string | undefined };

export type CopyPlan =
  | { kind: "in"; home: string; url: string | undefined }
  | { kind: "out"; home: string; url: string | undefined }
  | { kind: "refused"; problem: string };

/** Pure. `home` is that of the command. */
export function planCopy({
  from,
  to,
  home,
}: {
  from: string | undefined;
  to: string;
  home: string;
}): CopyPlan {
  const strange = [to, from].find((text) => text !== undefined && isOtherAddress(text));
  if (strange !== undefined)
    return {
      kind: "refused",
      problem: `${addressScheme(strange)} is no place of sessions: say "files", "postgres", an address that begins with postgres://, or a folder.`,
    };
  // It may hold a password, and is not told.
  if ([to, from].some((text) => text !== undefined && isStrangeSecret(text)))
    return {
      kind: "refused",
      problem:
        "An address of a database that is written as name=value, without postgres:// or with a space before it is no place of sessions: write it as postgres://user:password@host:5432/database.",
    };
  const word = [to, from].find((text) => text !== undefined && isBareWord(text));
  if (word !== undefined)
    return {
      kind: "refused",
      problem: `"${word}" is neither "files" nor "postgres"; a folder of that name is written ./${word}.`,
    };
  const target = placeOf(to, home);
  const opposite = target.kind === "files" ? "postgres" : "files";
  const source = placeOf(from ?? opposite, home);
  if (target.kind === "files" && source.kind === "postgres")
    return { kind: "out", home: target.home, url: source.url };
  if (target.kind === "postgres" && source.kind === "files")
    return { kind: "in", home: source.home, url: target.url };
  const both = target.kind === "files" ? "in files" : "in PostgreSQL";
  return {
    kind: "refused",
    problem: `--from and --to are both ${both}; sessions are copied from files into PostgreSQL or back.`,
  };
}

function placeOf(text: string, home: string): CopyPlace {
  if (text === "files") return { kind: "files", home };
  if (text === "postgres") return { kind: "postgres", url: undefined };
  // Of a wrong address the database says what is wrong.
  if (/^postgres(?:ql)?:/i.test(text)) return { kind: "postgres", url: text };
  return { kind: "files", home: resolve(text) };
}

const addressScheme = (text: string): string | undefined =>
  /^[a-z][a-z\d+.-]+:\/\//i.exec(text)?.[0];

/** It may be a folder, or a word that was meant to be another: whoever means a folder says so. */
const isBareWord = (text: string): boolean =>
  !/[/\\]/.test(text) &&
  !/^(?:files|postgres|\.{1,2})$/.test(text) &&
  !/^postgres(?:ql)?:/i.test(text);

const isStrangeSecret = (text: string): boolean =>
  !/^postgres(?:ql)?:/i.test(text) && secretsInAddress(text).length > 0;

const isOtherAddress = (text: string): boolean =>
  addressScheme(text) !== undefined && !/^postgres(?:ql)?:/i.test(text);

/** Pure. For people, without a password. */
export function nameOfDatabase(url: string): string {
  if (!URL.canParse(url)) return "PostgreSQL";
  const { hostname, port, pathname, searchParams } = new URL(url);
  const host = searchParams.get("host") ?? hostname;
  return `PostgreSQL at ${host}${port === "" ? "" : `:${port}`}${pathname}`;
}
