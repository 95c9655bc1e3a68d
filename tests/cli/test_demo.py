"""deft demo: two plans and a page."""


def test_the_demo_plans_and_names_the_page(deft, tmp_path):
    done = deft.run("demo", "--out", tmp_path / "shown")
    page = tmp_path / "shown/allegro_ball/run.html"
    assert done.stdout.splitlines()[-1] == str(page) and page.stat().st_size > 100_000
    assert done.stdout.count("$ deft plan ") == 2
    assert (tmp_path / "shown/planar_hand/run.h5").exists()
