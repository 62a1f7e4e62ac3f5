"""People at the pages of an application, each with a token of their own."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx2
from starlette.types import ASGIApp

BASE = "http://127.0.0.1:8088"
PEOPLE = {
    "mara": ("approver", "mara-0123456789abcdef"),
    "okafor": ("approver", "okafor-0123456789abcdef"),
    "tess": ("triager", "tess-0123456789abcdef"),
    "rita": ("reader", "rita-0123456789abcdef"),
}
_TOKEN = re.compile(r'name="form_token" value="([^"]+)"')


def tokens_file(folder: Path, **tags: str) -> Path:
    """A file with everybody's token; `tags` bound what an approver may sign."""
    path = folder / "tokens"
    lines = [
        f"{role} {token} {name}{f' tags={tags[name]}' if name in tags else ''}\n"
        for name, (role, token) in PEOPLE.items()
    ]
    path.write_text("".join(lines))
    return path


@dataclass(frozen=True)
class Reader:
    """A person at the pages of `app`."""

    app: ASGIApp
    name: str

    async def get(self, path: str) -> httpx2.Response:
        """A page, as it is sent."""
        async with self._client() as client:
            return await client.get(path, headers={"accept": "text/html"})

    async def page(self, path: str) -> str:
        """The HTML of a page, with its characters as they are read."""
        reply = await self.get(path)
        assert reply.status_code == 200, reply.text
        return html.unescape(reply.text)

    async def send(
        self,
        path: str,
        fields: Mapping[str, str],
        *,
        of_page: str,
        file: tuple[str, bytes] | None = None,
    ) -> httpx2.Response:
        """Sends a form of the page `of_page`, with the token that stands in it."""
        token = _TOKEN.search((await self.get(of_page)).text)
        assert token is not None, f"no form on {of_page}"
        data = {"form_token": token[1], **fields}
        async with self._client() as client:
            return await client.post(path, data=data, files={"file": file} if file else None)

    def _client(self) -> httpx2.AsyncClient:
        token = PEOPLE[self.name][1]
        return httpx2.AsyncClient(
            transport=httpx2.ASGITransport(self.app, raise_app_exceptions=False),
            base_url=BASE,
            headers={"authorization": f"Bearer {token}"},
        )
