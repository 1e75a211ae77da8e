"""Calls a platform with the generated client. tools/python-client.ts runs this program."""

import json
import os

from vitascope_client import AuthenticatedClient, Client
from vitascope_client.api.folders import create_folder, delete_folder, list_folders
from vitascope_client.api.organisations import list_organisation_names
from vitascope_client.api.videos import get_video, list_videos, update_video, upload_video
from vitascope_client.errors import UnexpectedStatus
from vitascope_client.models import (
    CreateFolderPayload,
    UpdateVideoPayload,
    UpdateVideoPayloadVisibility,
    UploadVideoPayload,
)

api = os.environ["VITASCOPE_URL"] + "/v2"
client = AuthenticatedClient(api, token=os.environ["VITASCOPE_KEY"], raise_on_unexpected_status=True)


def fails_with(code: str, call) -> None:
    """Requires that a call fails with the code of a problem document."""
    try:
        call()
    except UnexpectedStatus as error:
        problem = json.loads(error.content)
        assert problem["code"] == code, problem
        assert problem["status"] == error.status_code, problem
    else:
        raise AssertionError(f"the call did not fail with {code}")


names = list_organisation_names.sync(client=client)
assert names is not None and names.additional_properties == {"1": "System"}, names

payload = CreateFolderPayload(organisation_id="1", name="Trailers")
folder = create_folder.sync(client=client, body=payload)
assert folder is not None and folder.data.name == "Trailers", folder
assert list_folders.sync(organisation_id="1", client=client), "the folder is not listed"
assert delete_folder.sync(folder_id=folder.created, organisation_id="1", client=client)

source = UploadVideoPayload(url="http://127.0.0.1:1024/clip.mp4", organisation_id="1", name="Launch")
upload = upload_video.sync(client=client, body=source)
assert upload is not None and upload.job_id, upload
change = UpdateVideoPayload(visibility=UpdateVideoPayloadVisibility.PRIVATE, tags=["launch"])
assert update_video.sync(video_id=upload.id, client=client, body=change)
video = get_video.sync(video_id=upload.id, client=client)
assert video is not None and video.video_title == "Launch", video
assert video.visibility == "private", video.visibility
page = list_videos.sync(client=client, tag="launch")
assert page is not None and [each.video_id for each in page.videos] == [upload.id], page

fails_with("video_not_found", lambda: get_video.sync(video_id="1", client=client))
guest = Client(api, raise_on_unexpected_status=True)
fails_with("key_required", lambda: list_videos.sync(client=guest))
print("the Python client works: 9 operations and 2 errors")
