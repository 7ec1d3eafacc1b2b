// Reads what Codex tells of a turn while it goes on.
import { NewsSchemas } from "./protocol.ts";

export type News = {
  [Method in keyof typeof NewsSchemas]: { method: Method } & ReturnType<
    (typeof NewsSchemas)[Method]["parse"]
  >;
}[keyof typeof NewsSchemas];

/** Pure. Undefined: nobody here wants to know; null: it cannot be read. */
export function readNews(method: string, params: unknown): News | null | undefined {
  if (!Object.hasOwn(NewsSchemas, method)) return undefined;
  const known = method as keyof typeof NewsSchemas;
  const read = NewsSchemas[known].safeParse(params);
  return read.success ? ({ method: known, ...read.data } as News) : null;
}
