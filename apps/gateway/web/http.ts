// Asks the gateway over HTTP, and has one kind of error for what can go wrong.

/** The gateway did not answer (`code` "AWAY") or refused; the message is for people. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export interface Http {
  /** Null: there is nothing at the path. */
  find(path: string, init?: RequestInit): Promise<Response | null>;
  /** What must be there. */
  get(path: string, init?: RequestInit): Promise<Response>;
}

/** `origin`: "" on the page itself. */
export function createHttp(origin = ""): Http {
  const find: Http["find"] = async (path, init) => {
    const response = await fetch(`${origin}${path}`, init).catch((error: unknown) => {
      throw new ApiError(
        "AWAY",
        `The gateway does not answer (${error instanceof Error ? error.message : String(error)}).`,
      );
    });
    if (response.status === 404) return null;
    if (!response.ok) throw await toError(response);
    return response;
  };
  return {
    find,
    async get(path, init) {
      const response = await find(path, init);
      if (response === null)
        throw new ApiError("NOT_FOUND", `The gateway has nothing at ${path}; reload the page.`);
      return response;
    },
  };
}

/** The address of a session in the API. */
export const sessionPath = (key: string): string => `/api/sessions/${encodeURIComponent(key)}`;

async function toError(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => null)) as {
    error?: { code?: string; message?: string };
  } | null;
  return new ApiError(
    body?.error?.code ?? "HTTP",
    body?.error?.message ?? `The gateway answered ${response.status}.`,
  );
}
