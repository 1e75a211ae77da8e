export interface ApiResponse<Body> {
  status: number
  headers: Headers
  /** Parsed JSON, or text if the content type is not JSON. */
  body: Body
}

type Json = Record<string, unknown>

/** Client of the REST API with one key or without a key. */
export interface Api {
  get<Body = Json>(path: string, headers?: Record<string, string>): Promise<ApiResponse<Body>>
  post<Body = Json>(path: string, payload?: unknown, headers?: Record<string, string>): Promise<ApiResponse<Body>>
  put<Body = Json>(path: string, payload?: unknown, headers?: Record<string, string>): Promise<ApiResponse<Body>>
  patch<Body = Json>(path: string, payload?: unknown, headers?: Record<string, string>): Promise<ApiResponse<Body>>
  delete<Body = Json>(path: string, headers?: Record<string, string>): Promise<ApiResponse<Body>>
  send<Body = Json>(
    method: string,
    path: string,
    init?: { body?: RequestInit['body']; headers?: Record<string, string> },
  ): Promise<ApiResponse<Body>>
}

/** Called with each response before the caller receives it. */
export type ResponseListener = (method: string, path: string, result: ApiResponse<unknown>) => void

export function createApi(base: string, key?: string, onResponse: ResponseListener = () => {}): Api {
  const send: Api['send'] = async <Body>(
    method: string,
    path: string,
    init: { body?: RequestInit['body']; headers?: Record<string, string> } = {},
  ) => {
    const response = await fetch(base + path, {
      method,
      body: init.body ?? null,
      headers: { ...(key !== undefined && { authorization: `Basic ${Buffer.from(`${key}:x`).toString('base64')}` }), ...init.headers },
      redirect: 'manual',
      signal: AbortSignal.timeout(30_000),
    })
    const text = await response.text()
    const isJson = /json/.test(response.headers.get('content-type') ?? '')
    const result = { status: response.status, headers: response.headers, body: (isJson && text !== '' ? JSON.parse(text) : text) as Body }
    onResponse(method, path, result)
    return result
  }
  const withBody =
    (method: string) =>
    <Body>(path: string, payload?: unknown, headers: Record<string, string> = {}) =>
      payload === undefined
        ? send<Body>(method, path, { headers })
        : send<Body>(method, path, { body: JSON.stringify(payload), headers: { 'content-type': 'application/json', ...headers } })
  return {
    get: (path, headers = {}) => send('GET', path, { headers }),
    post: withBody('POST'),
    put: withBody('PUT'),
    patch: withBody('PATCH'),
    delete: (path, headers = {}) => send('DELETE', path, { headers }),
    send,
  }
}
