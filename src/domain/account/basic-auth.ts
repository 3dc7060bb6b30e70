/** RFC 7617, in UTF-8. */
export function basicToken(user: string, password: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(`${user}:${password}`)));
}
