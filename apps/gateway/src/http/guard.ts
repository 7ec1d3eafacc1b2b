// Who may talk to the server.

/**
 * Why a request is refused; null when it is not. A foreign Host means DNS rebinding, a foreign
 * Origin another site's page.
 */
export function refuseForeign({
  host,
  origin,
  port,
}: {
  host: string | undefined;
  origin: string | undefined;
  port: number;
}): string | null {
  const names = ["127.0.0.1", "localhost", "[::1]"].map((name) => `${name}:${port}`);
  if (host === undefined || !names.includes(host.toLowerCase())) {
    return `This server answers only to ${names[0]}; the request named another host.`;
  }
  if (origin !== undefined && !names.some((name) => origin.toLowerCase() === `http://${name}`)) {
    return "Requests from pages of other sites are refused.";
  }
  return null;
}
