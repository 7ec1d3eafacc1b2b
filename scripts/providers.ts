// Writes into the guides which providers and wires there are.
import { readFileSync } from "node:fs";
import { PROVIDERS } from "../packages/plugin-sdk/src/host.ts";
import { driverFiles } from "./drivers.ts";

const code = (text: string): string => `\`${text}\``;

/** The page of providers with its table rewritten: those that a driver can speak to. */
export function providersGuide(): { path: string; text: string } {
  const path = "docs/providers.md";
  const spoken = new Set(driverFiles().map(({ api }) => api));
  const rows = PROVIDERS.filter(({ apis }) => apis.some((api) => spoken.has(api))).map(
    ({ id, aliases = [], apis, models, baseUrl, addressLike, needsKey }) => {
      const own = addressLike === undefined ? "yours to set" : `like ${addressLike}`;
      const address = models !== undefined ? "none: it runs in Clew" : (baseUrl ?? own);
      const keys = needsKey?.map(code).join(" or ") ?? "none";
      const names = [id, ...aliases].map(code).join(", ");
      const [usual, ...others] = apis.filter((api) => spoken.has(api)).map(code);
      const speaks = others.length === 0 ? usual : `${usual}; ${others.join(", ")}`;
      return `| ${names} | ${speaks} | ${address} | ${keys} |`;
    },
  );
  const table = [
    "| provider | speaks | address | key |",
    "| --- | --- | --- | --- |",
    ...rows,
  ].join("\n");
  const text = readFileSync(path, "utf8").replace(
    /(<!-- providers: [^>]*-->\n).*?(\n<!-- end of providers -->)/s,
    (_, start: string, end: string) => `${start}${table}${end}`,
  );
  return { path, text };
}

/** The README of the providers with its list of wires rewritten. */
export function wiresReadme(): { path: string; text: string } {
  const path = "packages/providers/README.md";
  const apis = driverFiles().map(({ api }) => `\`${api}\``);
  const text = readFileSync(path, "utf8").replace(
    /(<!-- wires: [^>]*-->\n).*?(\n<!-- end of wires -->)/s,
    (_, start: string, end: string) => `${start}${apis.map((api) => `- ${api}`).join("\n")}${end}`,
  );
  return { path, text };
}
