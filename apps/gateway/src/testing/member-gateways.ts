// Starts gateways of one database, each with tokens that the others do not know.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { testDatabase } from "../../../../packages/store-postgres/src/testing/shared.ts";
import { startTestGateway, type TestGateway } from "./gateway.ts";
import { temporaryHome } from "./home.ts";
import { freePort } from "./killed-gateways.ts";

/** Of one gateway: the others know none of them. */
const tokensOf = (name: string) => ({
  own: `${name}-for-the-person-of-it`,
  chat: `${name}-for-who-may-talk`,
  read: `${name}-for-who-may-look`,
});

export interface Member extends TestGateway {
  tokens: ReturnType<typeof tokensOf>;
  /** With one of these, of this gateway. */
  asks(token: "own" | "chat" | "read", path: string, init?: RequestInit): Promise<Response>;
}

/** In the settings of all of them: `more`. */
export async function startMembers(
  names: readonly string[],
  more: Record<string, unknown> = {},
): Promise<Member[]> {
  const url = await testDatabase();
  const started: Member[] = [];
  for (const name of names) {
    const port = await freePort();
    const tokens = tokensOf(name);
    const others = (["chat", "read"] as const).map((scope) => ({
      ...{ name: scope, scope, token: tokens[scope] },
    }));
    const config = {
      storage: { driver: "postgres", url, address: `http://127.0.0.1:${port}` },
      gateway: { auth: { token: tokens.own, tokens: others } },
      ...more,
    };
    const home = await temporaryHome();
    await writeFile(join(home, "clew.json"), JSON.stringify(config));
    const gateway = await startTestGateway(config, home, {}, { port });
    const asks: Member["asks"] = (token, path, init = {}) =>
      gateway.get(path, {
        ...init,
        headers: { ...(init.headers as object), authorization: `Bearer ${tokens[token]}` },
      });
    started.push({ ...gateway, tokens, asks });
  }
  return started;
}
