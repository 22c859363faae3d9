from ncgnn.files import locked, try_lock


def test_a_lock_is_had_by_one_and_free_when_it_is_released(tmp_path):
    first = try_lock(tmp_path / "lock")
    assert first is not None
    assert try_lock(tmp_path / "lock") is None
    first.release()
    second = try_lock(tmp_path / "lock")
    assert second is not None
    second.release()


def test_a_lock_is_free_after_its_block_even_if_that_fails(tmp_path):
    path = tmp_path / "new" / "lock"
    try:
        with locked(path):
            assert try_lock(path) is None
            raise KeyError
    except KeyError:
        pass
    with locked(path):
        pass
